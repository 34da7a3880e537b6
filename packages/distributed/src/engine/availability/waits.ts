import type { Register } from "./register.ts";

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 10_000;
const FIRST_OPEN_MS = 1_000;
const LONGEST_OPEN_MS = 60_000;
const FIRST_PARK_MS = 60_000;
const LONGEST_PARK_STEP_MS = 30 * 60_000;
/**
 * Callers without another endpoint wait at most this fraction of the outage's present duration, so that they hardly
 * prolong it.
 */
const PART_OF_OUTAGE = 1 / 30;
const SHORT_MS = 2_000;
/** Available time after which the count of closures drops by one. */
const DECAY_MS = 10_000;

/** The wait before the next probe, which doubles with each closure. `count` is 1 for the first closure. */
export function waitOf(state: Register["state"], count: number): number {
  switch (state) {
    case "available":
      return 0;
    case "overloaded":
      return doubled(FIRST_PAUSE_MS, LONGEST_PAUSE_MS, count);
    case "broken":
      return doubled(FIRST_OPEN_MS, LONGEST_OPEN_MS, count);
    case "parked":
      return doubled(FIRST_PARK_MS, LONGEST_PARK_STEP_MS, count);
  }
}

/**
 * The wait for callers that have no other endpoint. A doubled wait could otherwise delay them for as long as the outage
 * has lasted. A wait that the provider, a quota or an operator has set is never shortened.
 */
export function impatientWait({ state, count, changedAt, since, waitMs }: Register): number {
  if (state === "parked" || waitMs > waitOf(state, count)) return waitMs;
  return Math.min(waitMs, Math.max(SHORT_MS, (changedAt - since) * PART_OF_OUTAGE));
}

function doubled(firstMs: number, longestMs: number, count: number): number {
  return Math.min(longestMs, firstMs * 2 ** Math.min(30, Math.max(0, count - 1)));
}

/** The number of earlier closures that still lengthens the next wait. */
export function decayedCount({ state, count, changedAt }: Register, now: number): number {
  if (state !== "available") return count;
  return Math.max(0, count - Math.floor((now - changedAt) / DECAY_MS));
}
