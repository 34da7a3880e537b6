import { DimensionSet } from "./dimension-set.ts";
import { codeOf, type ErrorBody, isRecord, readErrorBody } from "./error-body.ts";
import { readGoogleQuota } from "./google-quota.ts";
import { addHeaderDimensions } from "./header-dimensions.ts";
import { type HeadersLike, readHeaders } from "./header-fields.ts";
import { addIetfDimensions } from "./ietf-fields.ts";
import type { ProviderSignal, RefusalClass, SignalDimension } from "./provider-signal.ts";
import { classOf } from "./refusal-class.ts";
import { retryAfterOfBody, retryAfterOfHeaders } from "./retry-after.ts";

/** An answer, or as much of it as there is. */
export interface ProviderAnswer {
  readonly status?: number | undefined;
  /** A `Headers`, a plain object, pairs. */
  readonly headers?: HeadersLike | undefined;
  /** Text, bytes, or what was parsed from them. Only that of an error is of interest. */
  readonly body?: unknown;
  /** For resets that are given as points in time. Default: the wall clock. */
  readonly now?: number | Date | string | undefined;
  /** Whose answer it is, when that is known. The answer mostly says so itself. */
  readonly provider?: string | undefined;
}

/** What an answer says about limits. Never throws; what is not understood, or cannot be meant, is left out. */
export function parseProviderSignal(answer: ProviderAnswer): ProviderSignal {
  try {
    return parse(answer);
  } catch {
    // A header object or body of someone else's that throws when it is read.
    return { dims: {} };
  }
}

function parse({ status, headers, body: rawBody, now: rawNow }: ProviderAnswer): ProviderSignal {
  const now = timeOf(rawNow);
  const fields = readHeaders(headers);
  const body = readErrorBody(rawBody);
  const found = new DimensionSet();
  addHeaderDimensions(fields, found, now);
  addIetfDimensions(fields, found, now);
  if (isRecord(body.metadata["headers"])) addHeaderDimensions(readHeaders(body.metadata["headers"]), found, now);
  const google = readGoogleQuota(body, found);
  const dims = found.toRecord();
  const exhausted = Object.keys(dims).filter((name) => isSpent(dims[name] ?? {}));
  exhausted.sort((a, b) => rankOf(a) - rankOf(b));
  const refusal = classOf({
    status: typeof status === "number" && status >= 100 ? status : 200,
    headerCodes: CODE_HEADERS.flatMap((name) => fields.get(name) ?? []).map(codeOf),
    unifiedStatus: fields.get("anthropic-ratelimit-unified-status") ?? "",
    body,
    google,
    dims,
    exhausted,
  });
  const retryAfterMs = waitOf(fields, body, google.retryMs, now);
  const cooldownMs = cooldownOf(refusal, retryAfterMs, exhausted, dims, fields);
  return {
    dims,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(cooldownMs > 0 ? { cooldownMs } : {}),
    ...(exhausted.length > 0 ? { exhausted } : {}),
    ...(refusal === undefined ? {} : { class: refusal }),
  };
}

/** Header fields that name the error, or the limit that was hit. */
const CODE_HEADERS = ["x-amzn-errortype", "x-ratelimit-type"];

function timeOf(now: ProviderAnswer["now"]): number {
  const time = typeof now === "string" ? Date.parse(now) : Number(now ?? Date.now());
  return Number.isFinite(time) ? time : Date.now();
}

const USUAL = ["requests", "tokens", "input_tokens", "output_tokens"];

/** One order, whichever the headers came in: a `Headers` sorts them by name. */
function rankOf(name: string): number {
  const rank = USUAL.indexOf(name);
  return rank < 0 ? USUAL.length : rank;
}

function isSpent({ remaining, utilization }: SignalDimension): boolean {
  return remaining === 0 || (utilization !== undefined && utilization >= 1);
}

/** Header fields come before the body, unless they say "now" and it does not. */
function waitOf(fields: ReadonlyMap<string, string>, body: ErrorBody, googleMs: number | undefined, now: number) {
  const ofHeaders = retryAfterOfHeaders(fields, now);
  if (ofHeaders !== undefined && ofHeaders > 0) return ofHeaders;
  return googleMs ?? retryAfterOfBody(body, now) ?? ofHeaders;
}

/** `Retry-After` counts before a reset. Azure's is too short while a window must renew: there the window counts. */
function cooldownOf(
  refusal: RefusalClass | undefined,
  retryAfterMs: number | undefined,
  exhausted: readonly string[],
  dims: Readonly<Record<string, SignalDimension>>,
  fields: ReadonlyMap<string, string>,
): number {
  if (refusal === undefined || refusal === "not_entitled" || refusal === "request_too_large") return 0;
  if (refusal === "quota_exhausted") return 0;
  const renews = exhausted.filter((name) => fields.has(`x-ratelimit-renewalperiod-${name}`));
  const renewal = Math.max(0, ...renews.map((name) => dims[name]?.resetMs || dims[name]?.windowMs || 0));
  if (retryAfterMs !== undefined && retryAfterMs > 0) return Math.max(retryAfterMs, renewal);
  return Math.max(renewal, ...exhausted.map((name) => dims[name]?.resetMs ?? 0));
}
