const FIRST_MS = 50;
const LONGEST_MS = 2_000;

/** How long to wait before the next attempt: longer each time, and differently long for those who lost it together. */
export function backOffMs(failures: number, random = Math.random()): number {
  return Math.min(LONGEST_MS, FIRST_MS * 2 ** failures) * (0.5 + random / 2);
}
