import type { Failure, Lease } from "@hivepace/core";
import { neverLeft } from "./never-left.ts";
import type { PacedCall, Sending } from "./pacer.ts";

const NOTHING = { tokens: 0, inputTokens: 0, outputTokens: 0 };
/** An answer that no model of this name exists, in the words of the providers. */
const UNKNOWN_MODEL =
  /model_not_found|model[^.]{0,120}(?:not found|not exist|not supported|unknown)|not_found_error[^.]{0,80}model/is;
/** The part of a body that is searched for the meaning of an error. */
const READ_CHARACTERS = 2_000;

/** A call that failed without a refusal: what may be done about it. */
export interface FailedCall {
  /** The provider rejected the call before it did anything, so that any other endpoint may be tried. */
  readonly isRejected: boolean;
}

/**
 * Ends the lease of an answer with an error status that is no refusal. Server errors, rejected credentials and unknown
 * models count as failures of the endpoint; other mistakes in the request use no tokens and show that the endpoint
 * works.
 */
export function endWithStatus(lease: Lease, status: number, text: () => string): FailedCall | undefined {
  const reason = String(status);
  if (status >= 500) {
    fail(lease, { reason });
    return { isRejected: false };
  }
  const isUnknownModel = status === 404 && UNKNOWN_MODEL.test(text().slice(0, READ_CHARACTERS));
  if (status !== 401 && status !== 403 && !isUnknownModel) {
    lease.done(NOTHING);
    return undefined;
  }
  fail(lease, { reason, concerns: status === 401 ? "endpoint" : "model", used: NOTHING });
  return { isRejected: true };
}

/** Ends the lease of a call that has thrown instead of being answered. */
export function endWithError(
  lease: Lease,
  error: unknown,
  signal: { readonly aborted: boolean } | undefined,
): FailedCall {
  const wasSent = !neverLeft(error);
  const byCaller = signal?.aborted === true || nameOf(error) === "AbortError";
  fail(lease, { reason: codeOf(error), concerns: "endpoint", wasSent, byCaller });
  return { isRejected: !wasSent };
}

/** A gate that was written without types may not know failures. */
export function fail(lease: Lease, failure: Failure): void {
  if (typeof lease.failed === "function") lease.failed(failure);
  else if (failure.wasSent === false) lease.cancel();
  else lease.done(failure.used);
}

/**
 * Whether a failed call may be sent elsewhere. A rejected one may; another one may have been executed, so it must be a call
 * that only reads or generates, which the providers' own SDKs repeat as well.
 */
export function mayRepeat({ isRejected }: FailedCall, { facts, isReplayable, signal }: PacedCall): boolean {
  if (!isReplayable || signal?.aborted) return false;
  return isRejected || facts.protocol !== "other" || facts.model !== undefined;
}

/** The status or code of a failure, for people. */
function codeOf(error: unknown): string {
  let next = error;
  for (let depth = 0; depth < 4 && typeof next === "object" && next !== null; depth++) {
    const { code, cause } = next as { code?: unknown; cause?: unknown };
    if (typeof code === "string" && code !== "") return code.slice(0, 60);
    next = cause;
  }
  return nameOf(error) ?? "connection lost";
}

function nameOf(error: unknown): string | undefined {
  const name = typeof error === "object" && error !== null ? (error as { name?: unknown }).name : undefined;
  return typeof name === "string" ? name.slice(0, 60) : undefined;
}

/** A sending that ended with this failure. */
export function failedSending<T>(result: T, failure: FailedCall | undefined): Sending<T> {
  return { result, refusal: undefined, ...(failure ? { failure } : {}) };
}
