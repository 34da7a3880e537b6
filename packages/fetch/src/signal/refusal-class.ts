import { DAY_MS, HOUR_MS } from "./amounts.ts";
import type { ErrorBody } from "./error-body.ts";
import type { GoogleQuota } from "./google-quota.ts";
import type { RefusalClass, SignalDimension } from "./provider-signal.ts";
import { FAMILIES } from "./refusals/families.ts";
import { PRECEDENCE, type RefusalRule } from "./refusals/rule.ts";

export interface Refused {
  readonly status: number;
  /** Codes from header fields: AWS's `x-amzn-errortype`, GitHub's `x-ratelimit-type`. Lower case. */
  readonly headerCodes: readonly string[];
  readonly unifiedStatus: string;
  readonly body: ErrorBody;
  readonly google: GoogleQuota;
  readonly dims: Readonly<Record<string, SignalDimension>>;
  readonly exhausted: readonly string[];
  /** The wait that the answer asks for. */
  readonly retryAfterMs: number | undefined;
}

/** Statuses that alone identify a limit as the reason. */
const REFUSING: Readonly<Record<number, RefusalClass>> = {
  402: "quota_exhausted",
  413: "request_too_large",
  429: "rate_limited",
  498: "overloaded",
  503: "overloaded",
  529: "overloaded",
};

/** Matches the exception that AWS names in the header of a stream. */
const EXCEPTION = /exception|error|thrott/;

const RULES: readonly RefusalRule[] = FAMILIES.flatMap(({ rules }) => rules);

/** Returns the reason for a refusal; undefined when the answer is no error, or an error that no limit caused. */
export function classOf(refused: Refused): RefusalClass | undefined {
  const { body } = refused;
  const isOk = refused.status < 400;
  if (isOk && !body.isError && !refused.headerCodes.some((code) => EXCEPTION.test(code))) return undefined;
  // An error inside a successful answer may bring its own status.
  const status = isOk ? (statusIn(body.codes) ?? refused.status) : refused.status;
  const codes = [...refused.headerCodes, ...body.codes];
  const byStatus = REFUSING[status];
  const isServerError = isOk || status >= 500;
  const named = RULES.filter((rule) => rule.code !== undefined && applies(rule, status, isServerError, true));
  const byCode = named.filter(
    ({ code, text }) => codes.some((one) => code?.test(one)) && text?.test(body.message) !== false,
  );
  const isRefusal = byStatus !== undefined || byCode.length > 0;
  const byText = RULES.filter(
    (rule) =>
      rule.code === undefined &&
      applies(rule, status, isServerError, isRefusal) &&
      rule.text?.test(body.message) === true,
  );
  const matched = [...byCode, ...byText];
  const decisive = matched.filter(({ overrides }) => overrides);
  if (decisive.length > 0) return strongest(decisive.map((rule) => rule.class));
  const classes = matched.map((rule) => rule.class);
  if (byStatus !== undefined) classes.push(byStatus);
  return strongest([...classes, ...structural(refused, isRefusal)]);
}

function applies({ at, code }: RefusalRule, status: number, isServerError: boolean, isRefusal: boolean): boolean {
  if (typeof at === "object") return at.includes(status);
  if (at === "server-error") return isServerError;
  return at === "any-error" || (at === undefined && code !== undefined) || isRefusal;
}

function strongest(classes: readonly RefusalClass[]): RefusalClass | undefined {
  return PRECEDENCE.find((one) => classes.includes(one));
}

/** Returns the classes for which numbers and structures, not words, are the evidence. */
function structural(refused: Refused, isRefusal: boolean): RefusalClass[] {
  const { body, google } = refused;
  const found: RefusalClass[] = [];
  if (isLargerThanLimit(body.message)) found.push("request_too_large");
  if (!isRefusal) return found;
  // OpenAI uses these words for a spent credit, Google for any quota.
  if (/exceeded your current quota(?! of [a-z ]*per (?:second|minute))/i.test(body.message) && !isGoogle(body))
    found.push("quota_exhausted");
  if (google.isZero || isZero(refused)) found.push("not_entitled");
  if (google.isLong || isLong(refused)) found.push("quota_window_long");
  return found;
}

/** Whether a limit of 0 is the reason, and not another limit that is spent. */
function isZero({ dims, exhausted }: Refused): boolean {
  if (exhausted.some((name) => dims[name]?.limit !== 0)) return false;
  return Object.values(dims).some(({ limit }) => limit === 0);
}

function statusIn(codes: readonly string[]): number | undefined {
  // The innermost describes the error itself, the others its wrappers.
  return codes
    .map(Number)
    .filter((code) => code >= 400 && code < 600)
    .at(-1);
}

function isGoogle({ codes, details, message }: ErrorBody): boolean {
  return (
    codes.includes("resource_exhausted") ||
    details.length > 0 ||
    /googleapis\.com|ai\.google\.dev|quota_?(?:id|metric)\b|retry_?delay/i.test(message)
  );
}

/** Whether the message says that a request exceeds the whole limit: "Limit 7000, Used 0, Requested 12903". */
function isLargerThanLimit(text: string): boolean {
  const [, limit = "", requested = ""] =
    /Limit:? ~?(\d[\d,]{0,19})(?![\d.]).{0,80}?Requested:? ~?(\d[\d,]{0,19})/i.exec(text) ?? [];
  return Number(requested.replaceAll(",", "")) > Number(limit.replaceAll(",", ""));
}

/** No limit of a minute or an hour asks for a wait of this length. */
const LONG_WAIT_MS = 2 * HOUR_MS;

/** Whether a subscription's hours or the allowance of a day are spent. */
function isLong({ unifiedStatus, dims, exhausted, retryAfterMs = 0, body }: Refused): boolean {
  if (unifiedStatus === "rejected") return true;
  // A wait alone, without a word about its reason, may be a mistake.
  if (retryAfterMs >= LONG_WAIT_MS && body.message !== "") return true;
  const longest = exhausted.map((name) => (name.startsWith("unified_") ? Infinity : (dims[name]?.windowMs ?? 0)));
  return longest.some((windowMs) => windowMs >= DAY_MS);
}
