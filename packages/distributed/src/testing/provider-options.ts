import type { Limits } from "./options.ts";

/** How a provider enforces its limits, and the contents of its answers. */
export interface ProviderOptions {
  /** Enforcement by a sliding window, by consecutive fixed windows, or by a token bucket. */
  readonly kind: "sliding" | "fixed" | "bucket";
  /** Capacity of a bucket, in limits. @defaultValue 1 */
  readonly burst: number;
  /** Minimum and maximum latency of an answer, in milliseconds. @defaultValue 150 to 150 */
  readonly latencyMs: readonly [number, number];
  /** Lognormal duration of accepted calls, in milliseconds. @defaultValue as `latencyMs` */
  readonly callMs?: { readonly median: number; readonly sigma: number; readonly from: number; readonly to: number };
  /** The Retry-After of a refusal, in milliseconds. @defaultValue none */
  readonly retryAfterMs: number | undefined;
  /**
   * When and how tokens are counted: at the start of a call by its real usage (the simplest model, impossible for real
   * providers) or by its estimate, or at its end by usage. @defaultValue "actual-at-start"
   */
  readonly countsTokens: "actual-at-start" | "estimate-at-start" | "usage-at-end";
  /** Length of sub-windows in which a proportional part of the limits is also enforced. @defaultValue none */
  readonly subWindowMs?: number | undefined;
  /** Whether a refused call counts as a request, as with OpenAI. @defaultValue false */
  readonly countsRefused?: boolean | undefined;
  /** Calls that all agents together may have in flight. @defaultValue unlimited */
  readonly maxInFlight?: number | undefined;
  /** Random errors that are unrelated to limits. @defaultValue none */
  readonly failures?: FailureOptions | undefined;
  /** A quota over a long window, in addition to the limits. @defaultValue none */
  readonly quota?: QuotaOptions | undefined;
  /** Whether answers carry the headers limit, remaining and reset. @defaultValue false */
  readonly headers?: boolean | undefined;
}

/** Fractions of all calls that a provider answers with an error. */
export interface FailureOptions {
  /** Server errors (5xx). @defaultValue 0 */
  readonly errors?: number | undefined;
  /** Overload answers (529), and the wait that they request. @defaultValue 0 */
  readonly overloads?: number | undefined;
  readonly retryAfterMs?: number | undefined;
}

/** A quota over a long window: once it is exhausted, every call is refused until the window ends. */
export interface QuotaOptions extends Limits {
  /** The fraction already used when the simulation begins. @defaultValue 0 */
  readonly used?: number | undefined;
  /** Whether refusals state the time until the quota's window ends. @defaultValue false */
  readonly tellsWait?: boolean | undefined;
}

export const providerDefaults: ProviderOptions = {
  kind: "sliding",
  burst: 1,
  latencyMs: [150, 150],
  retryAfterMs: undefined,
  countsTokens: "actual-at-start",
};
