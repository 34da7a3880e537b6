import { type Climb, climbedTo, compareClimbs, nextClimbMs } from "./climb.ts";
import { type Measure, measuredCut } from "./measured-cut.ts";
import { mergedSpread, type Spread } from "./spread.ts";

/**
 * The backoff level: the fraction of the configured capacity that the swarm uses, the same at every agent. It is a register
 * that agents merge as the maximum of a total order, so duplicates, reordering and the path of a message do not matter.
 */
export interface Level {
  /** Number of cuts. */
  readonly epoch: number;
  /** Number of refusals since the cut that extended the pause. */
  readonly pauseCount: number;
  /** The level right after the cut. */
  readonly levelAtCut: number;
  /** The level rises by this factor per interval, up to `levelMax`. The agent that cut sets all three for the swarm. */
  readonly recoveryFactor: number;
  readonly recoveryIntervalMs: number;
  readonly levelMax: number;
  /** The recovery from a measured cut, instead of steps. Agents that do not know it take the steps. */
  readonly climb?: Climb | undefined;
  /** A shorter window over which the provider was seen to enforce its limits. */
  readonly spread?: Spread | undefined;
  /** Times on this agent's clock. Messages carry ages instead. */
  readonly cutAt: number;
  readonly pausedAt: number;
  readonly pauseMs: number;
  /** The agent that cut, and the reason. */
  readonly origin: string;
  readonly reason: string;
}

/** This agent's rules for cuts and recovery. */
export interface LevelRules {
  readonly reduceFactor: number;
  readonly recoveryFactor: number;
  readonly recoveryIntervalMs: number;
  /** Upper bound of the recovery; 1 is the configured capacity. */
  readonly levelMax: number;
  /** Refusals within this time of a cut are the same congestion. */
  readonly cooldownMs: number;
  /** Lower bound of the level. */
  readonly levelMin: number;
  /** Refusals cut the level to slightly below the usage accepted before, instead of by `reduceFactor`. */
  readonly isMeasured?: boolean | undefined;
  /** Refusals of bursts teach shorter windows. Requires `isMeasured`. */
  readonly learnsWindows?: boolean | undefined;
}

/** A refusal by the provider. */
export interface Refused {
  /**
   * Time at which the refused request was sent. A request sent before the present level was known is no evidence
   * against that level.
   */
  readonly sentAt: number;
  readonly retryAfterMs?: number | undefined;
  /** The provider is overloaded: the swarm pauses, but its rate was not the cause, so the level is not cut. */
  readonly isOverload?: boolean | undefined;
  /**
   * The provider refused a call of this agent, whose charge has been returned. Only such a refusal is evidence of a shorter
   * window: an announcement asks for a cut.
   */
  readonly isAnswer?: boolean | undefined;
  readonly reason: string;
}

/** The level before the first cut. */
export const FULL: Level = {
  epoch: 0,
  pauseCount: 0,
  levelAtCut: 1,
  recoveryFactor: 1,
  recoveryIntervalMs: Infinity,
  levelMax: 1,
  cutAt: -Infinity,
  pausedAt: -Infinity,
  pauseMs: 0,
  origin: "",
  reason: "",
};

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 10_000;
/** Replaces 1 as the result of a cut, because a level of exactly 1 means that nothing was cut. */
const CUT_TO_WHOLE = 1 - 2 ** -40;
/** The longest pause, one day. A longer `Retry-After` means a blocked account rather than a rate limit. */
export const LONGEST_RETRY_MS = 86_400_000;
/** A refusal during the recovery undoes this factor: two steps of 1.1. */
const STEP_BACK = 1.21;
/** Number of cuts by which an honest agent may be ahead. */
export const EPOCHS_AHEAD = 1000;

/** The level at `now`, including recovery. */
export function levelAt(level: Level, now: number): number {
  const { epoch, levelAtCut, recoveryFactor, levelMax } = level;
  if (epoch === 0) return 1;
  if (level.climb) return Math.min(levelMax, climbedTo(levelAtCut, level.climb, now - level.cutAt));
  return Math.min(levelMax, levelAtCut * recoveryFactor ** stepsAt(level, now));
}

/** Number of recovery steps until `now`. The quotient may fall short by a rounding error, so the next step is checked too. */
function stepsAt(level: Level, now: number): number {
  const steps = Math.floor(Math.max(0, now - level.cutAt) / level.recoveryIntervalMs);
  return now >= stepAt(level, steps + 1) ? steps + 1 : steps;
}

function stepAt({ cutAt, recoveryIntervalMs }: Level, step: number): number {
  return cutAt + step * recoveryIntervalMs;
}

/** Time at which the level rises next; Infinity at its maximum. */
export function nextStepAt(level: Level, now: number): number {
  if (level.epoch === 0 || levelAt(level, now) >= level.levelMax) return Infinity;
  if (level.climb) return level.cutAt + nextClimbMs(level.climb, now - level.cutAt);
  return stepAt(level, stepsAt(level, now) + 1);
}

/** End of the latest pause. */
export function pausedUntil({ pausedAt, pauseMs }: Level): number {
  return pausedAt + pauseMs;
}

/**
 * True when `a` supersedes `b`: a later cut, the deeper of two concurrent cuts, or a longer pause; then any order that all
 * agents share.
 */
export function isLater(a: Level, b: Level): boolean {
  return (
    (a.epoch - b.epoch ||
      b.levelAtCut - a.levelAtCut ||
      a.pauseCount - b.pauseCount ||
      a.pauseMs - b.pauseMs ||
      compare(a.origin, b.origin) ||
      b.recoveryFactor - a.recoveryFactor ||
      compare(a.recoveryIntervalMs, b.recoveryIntervalMs) ||
      b.levelMax - a.levelMax ||
      compare(a.reason, b.reason) ||
      compareClimbs(a.climb, b.climb)) > 0
  );
}

function compare<T extends string | number>(a: T, b: T): number {
  return a === b ? 0 : a > b ? 1 : -1;
}

/** The later of two registers. Of equal ones the earlier start counts, so that all agents recover at the same time. */
export function merge(ours: Level, received: Level): Level {
  const merged = mergeCuts(ours, received);
  const spread = mergedSpread(ours.spread, received.spread);
  return spread === merged.spread ? merged : { ...merged, spread };
}

function mergeCuts(ours: Level, received: Level): Level {
  if (isLater(received, ours)) return received;
  if (isLater(ours, received)) return ours;
  const cutAt = Math.min(ours.cutAt, received.cutAt);
  const pausedAt = Math.min(ours.pausedAt, received.pausedAt);
  return cutAt === ours.cutAt && pausedAt === ours.pausedAt ? ours : { ...ours, cutAt, pausedAt };
}

/**
 * The later register, with the pause of another register of the same epoch if that pause is longer and ends later: the
 * agent that cut later or deeper may not have known of it. Within an epoch and pause count the pause only grows, so agents that
 * relay registers to each other converge.
 */
export function withLongerPause(later: Level, other: Level): Level {
  if (other.epoch !== later.epoch || other.pauseMs <= later.pauseMs) return later;
  if (pausedUntil(other) <= pausedUntil(later)) return later;
  return { ...later, pausedAt: other.pausedAt, pauseMs: other.pauseMs };
}

/** True while refusals belong to the congestion of the last cut. A level of exactly 1 is an overload or a full recovery. */
export function isCooling(
  { levelAtCut, cutAt }: Level,
  { cooldownMs }: Pick<LevelRules, "cooldownMs">,
  now: number,
): boolean {
  return levelAtCut !== 1 && now - cutAt < cooldownMs;
}

/**
 * Returns the level after a refusal, or the same object when the refusal is no new evidence.
 * - A request that was sent before the present level was known belongs to the congestion that caused it.
 * - Within the cooldown of a cut, the swarm pauses longer and does not cut again.
 * - After the cooldown, a refusal cuts. During an undisturbed recovery it only undoes the last steps.
 * - With a measure there is no cooldown: each refusal of a request that was sent after the cut shows where the limit
 *   is.
 * - A refusal that a shorter window explains, `spread`, spreads the calls. The level climbs back within seconds.
 */
export function refuse(
  level: Level,
  refused: Refused,
  knownAt: number,
  rules: LevelRules,
  now: number,
  origin: string,
  measure?: Measure | undefined,
  spread?: Spread | undefined,
): Level {
  if (refused.sentAt <= knownAt) return level;
  const retryMs = Math.min(LONGEST_RETRY_MS, Math.max(0, refused.retryAfterMs ?? 0));
  const { reason } = refused;
  // A running pause is never shortened.
  const restMs = Math.max(0, pausedUntil(level) - now);
  if ((!measure && isCooling(level, rules, now)) || refused.isOverload) {
    const pauseCount = level.pauseCount + 1;
    const ownMs = retryMs || Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(pauseCount, 16));
    const pauseMs = Math.max(restMs, ownMs);
    const started = level.epoch > 0 ? level : { ...rulesOf(rules), ...FULL_START, cutAt: now };
    return { ...started, pauseCount, pausedAt: now, pauseMs, origin, reason };
  }
  const current = levelAt(level, now);
  if (measure) {
    if (spread && level.epoch > 0 && level.spread)
      return spreadFiner(level, spread, Math.max(restMs, retryMs || FIRST_PAUSE_MS), now, origin, reason);
    const cut = measuredCut(level, current, measure, rules.reduceFactor, rules.levelMin, retryMs, now);
    return {
      ...rulesOf(rules),
      ...spreadOf(level),
      epoch: level.epoch + 1,
      pauseCount: 0,
      ...(spread ? { ...cut, spread, climb: { ...cut.climb, good: 1 } } : cut),
      pauseMs: Math.max(restMs, cut.pauseMs),
      cutAt: now,
      pausedAt: now,
      origin,
      reason,
    };
  }
  const isProbe = level.epoch > 0 && level.pauseCount === 0 && current < level.levelMax;
  const reduced = Math.max(rules.levelMin, isProbe ? current / STEP_BACK : current * rules.reduceFactor);
  // With a minimum of 1, peers would raise anything lower and never agree.
  const levelAtCut = reduced === 1 && current > 1 && rules.levelMin < 1 ? CUT_TO_WHOLE : reduced;
  const { epoch } = level;
  const pauseMs = Math.max(restMs, retryMs || FIRST_PAUSE_MS);
  return {
    ...rulesOf(rules),
    ...spreadOf(level),
    epoch: epoch + 1,
    pauseCount: 0,
    levelAtCut,
    cutAt: now,
    pausedAt: now,
    pauseMs,
    origin,
    reason,
  };
}

/** The level with a sub-window that is shorter than the one learned before, and a pause. */
function spreadFiner(
  level: Level,
  spread: Spread,
  pauseMs: number,
  now: number,
  origin: string,
  reason: string,
): Level {
  return { ...level, spread, pauseCount: level.pauseCount + 1, pausedAt: now, pauseMs, origin, reason };
}

/** A new epoch at the full level, because the provider's own numbers show that the whole limit is available. */
export function restored(level: Level, now: number, origin: string): Level {
  const reason = "the provider shows room";
  return {
    ...level,
    epoch: level.epoch + 1,
    pauseCount: 0,
    levelAtCut: 1,
    climb: undefined,
    cutAt: now,
    pausedAt: now,
    pauseMs: 0,
    origin,
    reason,
  };
}

/** The first epoch of a quota that was paused without a cut. */
const FULL_START = { epoch: 1, levelAtCut: 1 };

/** Converts the times of a level to ages, or ages to times. */
export function withAges(level: Level, now: number): Level {
  const { spread } = level;
  const aged = { ...level, cutAt: now - level.cutAt, pausedAt: now - level.pausedAt };
  return spread ? { ...aged, spread: { ...spread, at: now - spread.at } } : aged;
}

function spreadOf({ spread }: Level): Pick<Level, "spread"> {
  return spread ? { spread } : {};
}

function rulesOf({ recoveryFactor, recoveryIntervalMs, levelMax }: LevelRules) {
  return { recoveryFactor, recoveryIntervalMs, levelMax };
}
