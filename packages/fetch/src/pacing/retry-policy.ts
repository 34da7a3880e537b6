import { isWorthWaiting, type ProviderSignal } from "../signal/provider-signal.ts";

export interface RetryPolicy {
  /** Number of times that a refused request is sent again. */
  readonly maxRetries: number;
  /** Backoff before the first retry when the provider names no wait. It doubles with each retry. */
  readonly baseDelayMs: number;
  /** The caller gets the answer at once when the provider asks for a longer wait than this. */
  readonly maxDelayMs: number;
}

/** Jitter on top of a wait that the provider named, as a part of it, so that not all agents return at once. */
const SPREAD = 0.1;

/**
 * Returns the wait before the next retry; undefined when there should be none. A wait that the provider asks for is
 * never shortened. `random` is from 0 up to 1.
 */
export function retryDelayMs(
  signal: ProviderSignal,
  retries: number,
  policy: RetryPolicy,
  random: number,
): number | undefined {
  if (!isWorthWaiting(signal.class) || retries >= policy.maxRetries) return undefined;
  const asked = signal.cooldownMs ?? 0;
  if (asked > policy.maxDelayMs) return undefined;
  if (asked > 0) return asked * (1 + SPREAD * random);
  const whole = Math.min(policy.maxDelayMs, policy.baseDelayMs * 2 ** retries);
  return whole * (0.5 + 0.5 * random);
}
