/** Why a provider refused a request. Only the first three pass by waiting, only the first two say that we send too much. */
export type RefusalClass =
  | "rate_limited"
  | "ramp_limited"
  | "overloaded"
  | "quota_window_long"
  | "quota_exhausted"
  | "not_entitled"
  | "request_too_large";

/** What an answer says of one limit: only what stands in it. */
export interface SignalDimension {
  limit?: number;
  remaining?: number;
  /** Until it is whole again. */
  resetMs?: number;
  /** What the limit refers to, when the answer says so or leaves no doubt. */
  windowMs?: number;
  /** 0..1, where a provider gives a part and no number. */
  utilization?: number;
  /** What a policy of the `RateLimit` fields counts. */
  unit?: string;
}

/** What a provider's answer says about limits. A field that is absent was not said. */
export interface ProviderSignal {
  /** By name: "requests", "tokens", "input_tokens", "output_tokens", and others as the provider names them. */
  dims: Record<string, SignalDimension>;
  /** How long the provider asks to wait. */
  retryAfterMs?: number;
  /** How long it is worth waiting before the next request; above 0. */
  cooldownMs?: number;
  /** The dimensions of which nothing is left. */
  exhausted?: string[];
  /** Why it was refused; absent when it was not, or for reasons that are not about limits. */
  class?: RefusalClass;
}

/** Whether waiting helps. */
export function isWorthWaiting(refusal: RefusalClass | undefined): boolean {
  return refusal === "rate_limited" || refusal === "ramp_limited" || refusal === "overloaded";
}

/** Whether the account sends more than it may, so that all agents should send less. */
export function reducesCapacity(refusal: RefusalClass | undefined): boolean {
  return refusal === "rate_limited" || refusal === "ramp_limited";
}
