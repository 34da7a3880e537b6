/**
 * The reason for a refusal. Only the first three pass by waiting; only the first two mean that the account sends too
 * much.
 */
export type RefusalClass =
  | "rate_limited"
  | "ramp_limited"
  | "overloaded"
  | "quota_window_long"
  | "quota_exhausted"
  | "not_entitled"
  | "request_too_large";

/** The statements of an answer about one limit. Absent fields were not stated. */
export interface SignalDimension {
  limit?: number;
  remaining?: number;
  /** Time until all of the limit is available again. */
  resetMs?: number;
  /** The window of the limit, when the answer names or implies it. */
  windowMs?: number;
  /** The used part, 0 to 1, of providers that give a part and no number. */
  utilization?: number;
  /** The unit of a policy of the `RateLimit` fields. */
  unit?: string;
}

/** The statements of a provider's answer about limits. Absent fields were not stated. */
export interface ProviderSignal {
  /** By name: "requests", "tokens", "input_tokens", "output_tokens", and others as the provider names them. */
  dims: Record<string, SignalDimension>;
  /** The wait that the provider asks for, in milliseconds. */
  retryAfterMs?: number;
  /** The wait before the next request that makes sense, in milliseconds; above 0. */
  cooldownMs?: number;
  /** The dimensions of which nothing is left. */
  exhausted?: string[];
  /** The reason for a refusal; absent when the request was not refused, or not because of a limit. */
  class?: RefusalClass;
}

/** Whether a refusal of this class passes by waiting for a minute or so. */
export function isWorthWaiting(refusal: RefusalClass | undefined): boolean {
  return refusal === "rate_limited" || refusal === "ramp_limited" || refusal === "overloaded";
}

/** Whether the account sends more than it may, so that all agents should send less. */
export function reducesCapacity(refusal: RefusalClass | undefined): boolean {
  return refusal === "rate_limited" || refusal === "ramp_limited";
}
