import { type Agent, isOneOfSeveral } from "./agent.ts";
import { type Amounts, at, minus, sizeOf } from "./amounts.ts";
import type { Climb } from "./climb.ts";
import { type Level, pausedUntil } from "./level.ts";
import type { Quota } from "./quota.ts";
import { LITTLE } from "./spread.ts";

/** The swarm's usage, as this agent knows it, at the time of a refusal. Levels are fractions of the full capacity. */
export interface Measure {
  /** Usage in the window before the refused request. */
  readonly used: number;
  /** Calls were sent between the end of the last pause and the refused request, and none of them was refused. */
  readonly hasResumed: boolean;
  /** Time until the usage of the window has fallen to this level, if nothing is sent. */
  readonly emptyMs: (level: number) => number;
  /** Time in which the swarm sends `PROBE_CALLS` calls at this level. */
  readonly probeMs: (level: number) => number;
  readonly windowMs: number;
}

/** Fraction of the usage before a refusal to which the level falls, and to which it climbs again. */
const BELOW = 0.97;
const GOOD = 0.99;
/** Fractions of the last level that are tried in turn while the first calls after a pause are refused again. */
const FURTHER = [0.83, 0.7, 0.5];
/**
 * Fraction of the level at a cut that must have been sent since, before a refusal is evidence of where the limit is.
 */
const RESUMED = 0.02;
/** Windows after a cut in which a refusal is expected to show the same limit. */
const FORGET_WINDOWS = 3;
/** Number of calls between probes from which on probes are not made rarer: a failed probe costs two to three refusals. */
const PROBE_CALLS = 300;
/**
 * Longest stay at the last good level, in windows. Where few calls fit into a window, a raised limit must still be
 * detected within a tolerable time.
 */
const LONGEST_STAY_WINDOWS = 2;
/** Constants are chosen for windows of a minute, and scale with the window. Shorter windows use the values of 20 s. */
const MINUTE_MS = 60_000;
const SHORTEST_MS = 20_000;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 10_000;
const CLIMB_MS = 5_000;
const FIRST_PROBE_MS = 6_000;
const GROW_MS = 9_000;

/** True when no refusal has shown a lower limit: a shorter window explains the only cut, which ends at the full level. */
function isUncut({ epoch, climb, spread }: Level): boolean {
  return epoch === 0 || (spread !== undefined && climb?.good === 1);
}

/** Measures the usage before a request that was sent at `sentAt` and refused. */
export function measureOf(agent: Agent, quota: Quota, sentAt: number, now: number): Measure {
  const { usage, backoff, config } = quota;
  const { windowMs } = config;
  const full = fullCapacity(agent, quota);
  const { level } = backoff;
  const resumedAt = Math.max(pausedUntil(level), level.cutAt + (level.climb?.holdMs ?? 0));
  const since = sizeOf(usage.swarm.between(resumedAt, sentAt), full);
  return {
    used: sizeOf(usage.swarm.between(sentAt - windowMs, sentAt), full),
    hasResumed: isUncut(level) || sentAt - resumedAt >= windowMs || since >= RESUMED * level.levelAtCut,
    emptyMs: (part) => {
      const excess = minus(
        usage.swarm.sum,
        full.map((amount) => amount * part),
      );
      return Math.min(windowMs, Math.max(0, usage.swarm.goneAt(excess) - now));
    },
    probeMs: (part) => (PROBE_CALLS * windowMs) / Math.max(1, part * callsIn(full, usage.typicalCost)),
    windowMs,
  };
}

/**
 * The cut that follows a refusal: to slightly below the usage accepted before, or further down while that is refused.
 */
export function measuredCut(
  level: Level,
  current: number,
  measure: Measure,
  reduceFactor: number,
  levelMin: number,
  retryMs: number,
  now: number,
): { readonly levelAtCut: number; readonly pauseMs: number; readonly climb: Climb } {
  const scale = Math.max(SHORTEST_MS, measure.windowMs) / MINUTE_MS;
  const { climb: before } = level;
  const isFurther = !measure.hasResumed;
  const failures = isFurther ? (before?.failures ?? 0) + 1 : 0;
  const used = Math.min(current, measure.used);
  const further = FURTHER[Math.min(failures, FURTHER.length) - 1] ?? 1;
  // A first refusal at little usage is weak evidence of the limit, so the level falls as without a measure.
  // The refusal that was explained by a shorter window counts, too, unless both were at little usage.
  const isSecond = level.epoch > 0 && isUncut(level) && measure.used > LITTLE;
  const isFirst = (isUncut(level) && !isSecond) || now - level.cutAt > FORGET_WINDOWS * measure.windowMs;
  const least = isFirst ? reduceFactor * current : 0;
  const lowered = isFurther ? Math.min(current, level.levelAtCut) * further : Math.max(BELOW * used, least);
  const levelAtCut = Math.max(levelMin, lowered);
  const good = isFurther ? levelAtCut : Math.max(levelAtCut, GOOD * used);
  const ownPauseMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(failures, 16)) * Math.max(1, scale);
  const pauseMs = retryMs || ownPauseMs;
  const holdMs = Math.max(pauseMs, measure.emptyMs(levelAtCut));
  const climbMs = CLIMB_MS * scale;
  const firstMs = FIRST_PROBE_MS * scale;
  const stayMs = before && !isFurther ? nextStayMs(level, before, firstMs, measure, good, now) : firstMs;
  const probeMs = holdMs + climbMs + stayMs;
  return { levelAtCut, pauseMs, climb: { good, holdMs, climbMs, probeMs, growMs: GROW_MS * scale, failures } };
}

/** The time until the next probe. A failed probe doubles it, up to the time at which probes cost little. */
function nextStayMs(level: Level, before: Climb, firstMs: number, measure: Measure, good: number, now: number): number {
  const probedAt = level.cutAt + before.probeMs;
  if (now - probedAt > measure.windowMs) return firstMs;
  const stayedMs = before.probeMs - before.holdMs - before.climbMs;
  return Math.max(firstMs, Math.min(2 * stayedMs, measure.probeMs(good), LONGEST_STAY_WINDOWS * measure.windowMs));
}

/** The capacity at the full level. */
function fullCapacity(agent: Agent, { limits }: Quota): number[] {
  const margin = isOneOfSeveral(agent) ? agent.config.tuning.safetyMargin : 0;
  return limits.map((limit) => limit - Math.floor(limit * margin));
}

/** Number of typical calls that a window holds. */
function callsIn(capacity: Amounts, typicalCost: Amounts): number {
  const calls = capacity.map((amount, i) => (at(typicalCost, i) > 0 ? amount / at(typicalCost, i) : Infinity));
  const least = Math.min(...calls);
  return Number.isFinite(least) ? least : 1;
}
