/** Relative jitter of the interval, which spreads the syncs of instances. */
const JITTER = 0.1;
/** Upper bound of the wait after any number of failures, so that a store that is back is used soon. */
const LONGEST_MS = 10_000;

/**
 * Time until the next sync after this number of consecutive failures. `random` is from 0 (inclusive) to 1 (exclusive).
 */
export function paceMs(intervalMs: number, failures: number, random: number): number {
  if (failures === 0) return intervalMs * (1 - JITTER + 2 * JITTER * random);
  const longest = Math.max(LONGEST_MS, intervalMs);
  return Math.min(longest, intervalMs * 2 ** (failures - 1)) * (0.5 + random / 2);
}
