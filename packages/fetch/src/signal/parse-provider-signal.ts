import { isRecord } from "../untyped.ts";
import { parseReset } from "./amounts.ts";
import { DimensionSet } from "./dimension-set.ts";
import { codeOf, type ErrorBody, readErrorBody } from "./error-body.ts";
import { readGoogleQuota } from "./google-quota.ts";
import { addHeaderDimensions } from "./header-dimensions.ts";
import { type HeadersLike, readHeaders } from "./header-fields.ts";
import { addIetfDimensions } from "./ietf-fields.ts";
import type { ProviderSignal, RefusalClass, SignalDimension } from "./provider-signal.ts";
import { classOf } from "./refusal-class.ts";
import { retryAfterOfBody, retryAfterOfHeaders } from "./retry-after.ts";

/** An answer of a provider. All parts are optional. */
export interface ProviderAnswer {
  readonly status?: number | undefined;
  /** A `Headers`, a plain object, pairs. */
  readonly headers?: HeadersLike | undefined;
  /** Text, bytes, or the value parsed from them. Only the body of an error is of interest. */
  readonly body?: unknown;
  /**
   * The time to which resets refer that are points in time.
   *
   * @defaultValue the wall clock
   */
  readonly now?: number | Date | string | undefined;
  /** The provider of the answer, if known. Most answers identify their provider. */
  readonly provider?: string | undefined;
}

/** Reads the statements of an answer about limits. Never throws; leaves out fields that are not understood or absurd. */
export function parseProviderSignal(answer: ProviderAnswer): ProviderSignal {
  try {
    return parse(answer);
  } catch {
    // The caller's header object or body threw an error when it was read.
    return { dims: {} };
  }
}

function parse({ status, headers, body: rawBody, now: rawNow }: ProviderAnswer): ProviderSignal {
  const now = timeOf(rawNow);
  const fields = readHeaders(headers);
  const body = readErrorBody(rawBody, typeof status === "number" && status >= 400);
  const found = new DimensionSet();
  addHeaderDimensions(fields, found, now);
  addIetfDimensions(fields, found, now);
  if (isRecord(body.metadata["headers"])) addHeaderDimensions(readHeaders(body.metadata["headers"]), found, now);
  const google = readGoogleQuota(body, found);
  const dims = found.toRecord();
  const exhausted = Object.keys(dims).filter((name) => isSpent(dims[name] ?? {}));
  exhausted.sort((a, b) => rankOf(a) - rankOf(b));
  const retryAfterMs = waitOf(fields, body, google.retryMs, now);
  const refusal = classOf({
    status: typeof status === "number" && status >= 100 ? status : 200,
    headerCodes: CODE_HEADERS.flatMap((name) => fields.get(name) ?? []).map(codeOf),
    unifiedStatus: fields.get("anthropic-ratelimit-unified-status") ?? "",
    body,
    google,
    dims,
    exhausted,
    retryAfterMs,
  });
  const cooldownMs = cooldownOf(refusal, retryAfterMs, exhausted, dims, fields, now);
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

/** Ranks dimensions, so that their order does not depend on that of the headers: a `Headers` sorts them by name. */
function rankOf(name: string): number {
  const rank = USUAL.indexOf(name);
  return rank < 0 ? USUAL.length : rank;
}

function isSpent({ remaining, utilization }: SignalDimension): boolean {
  return remaining === 0 || (utilization !== undefined && utilization >= 1);
}

/** Returns the first wait above 0: of the header fields, of Google's details, of the body. 0 when all that is told is 0. */
function waitOf(fields: ReadonlyMap<string, string>, body: ErrorBody, googleMs: number | undefined, now: number) {
  const waits = [retryAfterOfHeaders(fields, now), googleMs, retryAfterOfBody(body, now)];
  return waits.find((wait) => wait !== undefined && wait > 0) ?? waits.find((wait) => wait !== undefined);
}

/**
 * Returns the wait before the next request. `Retry-After` counts before a reset, except at Azure, whose wait is too
 * short while a window must renew.
 */
function cooldownOf(
  refusal: RefusalClass | undefined,
  retryAfterMs: number | undefined,
  exhausted: readonly string[],
  dims: Readonly<Record<string, SignalDimension>>,
  fields: ReadonlyMap<string, string>,
  now: number,
): number {
  if (refusal === undefined || refusal === "not_entitled" || refusal === "request_too_large") return 0;
  if (refusal === "quota_exhausted") return 0;
  const renews = exhausted.filter((name) => fields.has(`x-ratelimit-renewalperiod-${name}`));
  const renewal = Math.max(0, ...renews.map((name) => dims[name]?.resetMs || dims[name]?.windowMs || 0));
  if (retryAfterMs !== undefined && retryAfterMs > 0) return Math.max(retryAfterMs, renewal);
  // The reset of the hours of an Anthropic subscription that are spent.
  const isRejected = fields.get("anthropic-ratelimit-unified-status") === "rejected";
  const unified = isRejected ? parseReset(fields.get("anthropic-ratelimit-unified-reset") ?? "", now) : undefined;
  return Math.max(renewal, unified ?? 0, ...exhausted.map((name) => dims[name]?.resetMs ?? 0));
}
