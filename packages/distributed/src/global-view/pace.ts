/** How much earlier or later than the interval a sync may come, as a part of it: so that instances spread out. */
const JITTER = 0.1;
/** The longest wait after failures, however many: nobody waits long for a store that is back. */
const LONGEST_MS = 10_000;

/** How long to wait before the next sync, after so many failures in a row; `random` is from 0 up to 1. */
export function paceMs(intervalMs: number, failures: number, random: number): number {
  if (failures === 0) return intervalMs * (1 - JITTER + 2 * JITTER * random);
  const longest = Math.max(LONGEST_MS, intervalMs);
  return Math.min(longest, intervalMs * 2 ** (failures - 1)) * (0.5 + random / 2);
}
