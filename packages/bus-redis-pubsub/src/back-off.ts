const FIRST_MS = 50;
const LONGEST_MS = 2_000;

/**
 * Returns the milliseconds before the next attempt: exponential backoff with jitter, so that agents do not reconnect
 * simultaneously.
 */
export function backOffMs(failures: number, random = Math.random()): number {
  return Math.min(LONGEST_MS, FIRST_MS * 2 ** failures) * (0.5 + random / 2);
}
