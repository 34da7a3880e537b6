import type { Limits } from "./options.ts";

/** How a provider enforces its limits, and what it says in its answers. */
export interface ProviderOptions {
  /** How it enforces its limits: the most in any window, in windows one after the other, or a bucket that refills. */
  readonly kind: "sliding" | "fixed" | "bucket";
  /** What a bucket holds, in limits. @defaultValue 1 */
  readonly burst: number;
  /** How long an answer takes, from and to, in milliseconds. @defaultValue 150 to 150 */
  readonly latencyMs: readonly [number, number];
  /** How long accepted calls take, lognormal, in milliseconds. @defaultValue as `latencyMs` */
  readonly callMs?: { readonly median: number; readonly sigma: number; readonly from: number; readonly to: number };
  /** What a refusal asks to wait. @defaultValue nothing */
  readonly retryAfterMs: number | undefined;
  /**
   * When and how tokens are counted: at the start, by what the call will really use (no provider can; the simplest model)
   * or by its estimate; or at the end, by usage. @defaultValue "actual-at-start"
   */
  readonly countsTokens: "actual-at-start" | "estimate-at-start" | "usage-at-end";
  /** Limits are also enforced in windows of this length, each with its part of them. @defaultValue none */
  readonly subWindowMs?: number | undefined;
  /** Whether a refused call counts as a request, as with OpenAI. @defaultValue false */
  readonly countsRefused?: boolean | undefined;
  /** Calls that all agents together have in flight at most. @defaultValue any number */
  readonly maxInFlight?: number | undefined;
  /** Answers at random that say nothing about limits. @defaultValue none */
  readonly failures?: FailureOptions | undefined;
  /** A quota of a long window besides the limits. @defaultValue none */
  readonly quota?: QuotaOptions | undefined;
  /** Whether answers carry limit, remaining and reset. @defaultValue false */
  readonly headers?: boolean | undefined;
}

/** Parts of all calls that a provider answers with an error. */
export interface FailureOptions {
  /** Server errors (5xx). @defaultValue 0 */
  readonly errors?: number | undefined;
  /** Overload answers (529), and the wait that they ask for. @defaultValue 0 */
  readonly overloads?: number | undefined;
  readonly retryAfterMs?: number | undefined;
}

/** A quota of a long window: when it is gone, every call is refused until the window ends. */
export interface QuotaOptions extends Limits {
  /** The part that is used when the simulation begins. @defaultValue 0 */
  readonly used?: number | undefined;
  /** Whether refusals say how long the quota is gone. @defaultValue false */
  readonly tellsWait?: boolean | undefined;
}

export const providerDefaults: ProviderOptions = {
  kind: "sliding",
  burst: 1,
  latencyMs: [150, 150],
  retryAfterMs: undefined,
  countsTokens: "actual-at-start",
};
