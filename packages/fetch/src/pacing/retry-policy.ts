import { isWorthWaiting, type ProviderSignal } from "../signal/provider-signal.ts";

export interface RetryPolicy {
  /** How often a refused request is sent again. */
  readonly maxRetries: number;
  /** The first wait where the provider names none; the next are twice as long each. */
  readonly baseDelayMs: number;
  /** A provider that asks for more than this is not waited for: the caller gets its answer. */
  readonly maxDelayMs: number;
}

/** Of a wait that the provider named, up to this part comes on top, so that not all come back at once. */
const SPREAD = 0.1;

/**
 * How long to wait before the request is sent again; undefined when it should not be. What the provider asks for is
 * never cut short. `random` is from 0 up to 1.
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
