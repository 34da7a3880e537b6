import { DAY_MS } from "./amounts.ts";
import type { ErrorBody } from "./error-body.ts";
import type { GoogleQuota } from "./google-quota.ts";
import type { RefusalClass, SignalDimension } from "./provider-signal.ts";

export interface Refused {
  readonly status: number;
  /** AWS's `x-amzn-errortype`, or the name of its error. */
  readonly amznType: string;
  readonly unifiedStatus: string;
  readonly body: ErrorBody;
  readonly google: GoogleQuota;
  readonly dims: Readonly<Record<string, SignalDimension>>;
  readonly exhausted: readonly string[];
}

/** By code or type, first match. Each code is matched whole. */
const BY_CODE: readonly (readonly [RegExp, RefusalClass])[] = [
  [/^(ramp_limit_exceeded|slow_down|slowdown)$/, "ramp_limited"],
  [
    /insufficient_?(quota|funds|balance|credits?)|credit_balance|^billing|spend_limit|payment_required|^servicequotaexceeded/,
    "quota_exhausted",
  ],
  [/^(usage_limit_reached|quota_exhausted|dailylimitexceeded|quotaexceeded)$/, "quota_window_long"],
  [
    /^(request_too_large|request_body_too_large\w*|context_length_exceeded|string_above_max_length|payload_too_large)$/,
    "request_too_large",
  ],
  [
    /overloaded|^(model_?not_?ready|service_?unavailable|model_capacity_exhausted|no_?capacity|service_tier_capacity_exceeded|capacity_exceeded|unavailable|server_is_overloaded)/,
    "overloaded",
  ],
  [
    /^(rate_limit_error|(user)?rate_?limit_?(exceeded|reached)|rate_limited|too_?many_?requests|resource_exhausted|throttling|throttled|requestlimitexceeded|requestthrottled|provisionedthroughputexceeded)/,
    "rate_limited",
  ],
];

/** What only the text says. These come before the codes, which are the same for several of them. */
const TOO_LARGE =
  /request too large|prompt is too long|maximum context length|exceeds? (?:the )?context (?:limit|window)|reduce (?:your message size|the length of the messages)|input is too long|token count.{0,30} exceeds the maximum|number of tokens in the prompt cannot exceed/i;
const LONG_WINDOW =
  /(?<![a-z])per[ _-](?:day|month|week)(?![a-z])|\((?:TPD|RPD)\)|\/ ?(?:day|month)\b|\b(?:dai|week)ly\b|\bmonthly (?:call|request|token|limit|quota)/i;
const LONG_WINDOW_NAME = /Per(?:Day|Month|Week)(?![a-z])/;
const RAMP =
  /acceleration limit|usage increase rate|growing too fast|slow down|sudden increase in (?:your )?request|sharp increase in usage/i;
const SPENT =
  /credit balance is too low|insufficient (?:credits?|balance|funds)|credits are depleted|spend(?:ing)? (?:limit|cap)\b|will regain access on|requires? more credits/i;
const OVERLOADED =
  /overloaded|experiencing high (?:demand|traffic)|capacity exceeded|over capacity|no capacity|model is not ready/i;
const NOT_ENTITLED =
  /not (?:yet )?(?:available|included|supported) (?:in|on|for|with) (?:your|this) (?:current )?(?:plan|tier|subscription|account)|(?:don't|do not) have access to the model|extra usage is required|doesn't have a free quota tier/i;
/** A limit that its owner has set on a key: OpenRouter says 403. */
const KEY_LIMIT = /\bkey limit exceeded/i;
/** OpenAI's words for a spent credit, and Google's for any quota. */
const QUOTA = /exceeded your current quota/i;

/** Statuses at which a body is about limits at all; at others only what the body itself calls by name. */
const REFUSING: Readonly<Record<number, RefusalClass>> = {
  402: "quota_exhausted",
  413: "request_too_large",
  429: "rate_limited",
  498: "overloaded",
  503: "overloaded",
  529: "overloaded",
};

/** Why this was refused; undefined when it was not, or not because of a limit. */
export function classOf(refused: Refused): RefusalClass | undefined {
  const { body, google } = refused;
  const isOk = refused.status < 400;
  if (isOk && !body.isError && refused.amznType === "") return undefined;
  // An error inside of an answer may bring its own status.
  const status = isOk ? (statusIn(body.codes) ?? refused.status) : refused.status;
  const byStatus = REFUSING[status];
  const byCode = codeClass([refused.amznType, ...body.codes]);
  const isRefusal = byStatus !== undefined || byCode !== undefined;
  const text = body.message;
  if (TOO_LARGE.test(text) || isLargerThanLimit(text)) return "request_too_large";
  if (SPENT.test(text)) return "quota_exhausted";
  const isLongWindow = LONG_WINDOW.test(text) || LONG_WINDOW_NAME.test(text);
  if (KEY_LIMIT.test(text)) return isLongWindow ? "quota_window_long" : "quota_exhausted";
  if (!isRefusal) {
    if ((isOk || status >= 500) && OVERLOADED.test(text)) return "overloaded";
    return status >= 400 && NOT_ENTITLED.test(text) ? "not_entitled" : undefined;
  }
  if (byCode === "ramp_limited" || RAMP.test(text)) return "ramp_limited";
  if (byCode === "quota_exhausted" || byCode === "request_too_large" || status === 413) return byCode ?? byStatus;
  if (google.isZero || isZero(refused) || NOT_ENTITLED.test(text)) return "not_entitled";
  if (byStatus === "quota_exhausted") return byStatus;
  if (QUOTA.test(text) && !isGoogle(body)) return "quota_exhausted";
  if (byCode === "quota_window_long" || google.isLong || isLongWindow || isLong(refused)) return "quota_window_long";
  if (byCode === "overloaded" || OVERLOADED.test(text)) return "overloaded";
  return byStatus === "overloaded" ? byStatus : (byCode ?? byStatus);
}

function codeClass(codes: readonly string[]): RefusalClass | undefined {
  for (const [pattern, refusal] of BY_CODE) if (codes.some((code) => pattern.test(code))) return refusal;
  return undefined;
}

/** A limit of 0, unless another one is spent: then that is why. */
function isZero({ dims, exhausted }: Refused): boolean {
  if (exhausted.some((name) => dims[name]?.limit !== 0)) return false;
  return Object.values(dims).some(({ limit }) => limit === 0);
}

function statusIn(codes: readonly string[]): number | undefined {
  return codes.map(Number).find((code) => code >= 400 && code < 600);
}

function isGoogle({ codes, details }: ErrorBody): boolean {
  return codes.includes("resource_exhausted") || details.length > 0;
}

/** "Limit 7000, Used 0, Requested 12903": no wait makes that fit. */
function isLargerThanLimit(text: string): boolean {
  const [, limit = "", requested = ""] =
    /Limit:? ~?(\d[\d,]{0,19})(?![\d.]).{0,80}?Requested:? ~?(\d[\d,]{0,19})/i.exec(text) ?? [];
  return Number(requested.replaceAll(",", "")) > Number(limit.replaceAll(",", ""));
}

/** A subscription's hours, or a day's bucket that is empty. */
function isLong({ unifiedStatus, dims, exhausted }: Refused): boolean {
  if (unifiedStatus === "rejected") return true;
  const longest = exhausted.map((name) => (name.startsWith("unified_") ? Infinity : (dims[name]?.windowMs ?? 0)));
  return longest.some((windowMs) => windowMs >= DAY_MS);
}
