/**
 * The level: what is left of the configured capacity, the same number at every agent. It is a register that is merged as
 * the maximum of a total order, so that it does not matter how often, in which order or by which way it is heard.
 */
export interface Level {
  /** Counts the cuts. */
  readonly epoch: number;
  /** Counts the refusals since, each of which made the pause longer. */
  readonly round: number;
  /** The level right after the cut. */
  readonly base: number;
  /** It rises by this factor at each interval, up to `most`. Whoever cut has set them for all. */
  readonly recoveryFactor: number;
  readonly recoveryIntervalMs: number;
  readonly most: number;
  /** On this agent's clock. Ages travel, never times. */
  readonly cutAt: number;
  readonly pausedAt: number;
  readonly pauseMs: number;
  /** Who cut, and why. */
  readonly origin: string;
  readonly reason: string;
}

export interface LevelRules {
  readonly reduceFactor: number;
  readonly recoveryFactor: number;
  readonly recoveryIntervalMs: number;
  /** How far it may recover: 1 is the configured capacity. */
  readonly most: number;
  /** Refusals within this time of a cut are the same congestion. */
  readonly cooldownMs: number;
  /** Never below this. */
  readonly least: number;
}

export interface Refused {
  /** When the refused request was sent; what was sent before we knew of the present level says nothing about it. */
  readonly sentAt: number;
  readonly retryAfterMs?: number | undefined;
  /** A provider in trouble pauses us; it has not said that we send too much. */
  readonly isOverload?: boolean | undefined;
  readonly reason: string;
}

export const FULL: Level = {
  epoch: 0,
  round: 0,
  base: 1,
  recoveryFactor: 1,
  recoveryIntervalMs: Infinity,
  most: 1,
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
/** A day: whoever asks for more means that the account is blocked, which is no matter of pace. */
export const LONGEST_RETRY_MS = 86_400_000;
/** A refusal while recovering shows that the last steps were too much: two of 1.1. */
const STEP_BACK = 1.21;
/** No honest agent is so many cuts ahead. */
export const EPOCHS_AHEAD = 1000;

export function levelAt(level: Level, now: number): number {
  const { epoch, base, recoveryFactor, most } = level;
  if (epoch === 0) return 1;
  return Math.min(most, base * recoveryFactor ** stepsAt(level, now));
}

/** A step is there when its own time has come: the quotient alone may still fall short of it by a last digit. */
function stepsAt(level: Level, now: number): number {
  const steps = Math.floor(Math.max(0, now - level.cutAt) / level.recoveryIntervalMs);
  return now >= stepAt(level, steps + 1) ? steps + 1 : steps;
}

function stepAt({ cutAt, recoveryIntervalMs }: Level, step: number): number {
  return cutAt + step * recoveryIntervalMs;
}

/** When the level rises next; Infinity when it is whole. */
export function nextStepAt(level: Level, now: number): number {
  if (level.epoch === 0 || levelAt(level, now) >= level.most) return Infinity;
  return stepAt(level, stepsAt(level, now) + 1);
}

export function pausedUntil({ pausedAt, pauseMs }: Level): number {
  return pausedAt + pauseMs;
}

/**
 * Is `a` the later word? A later cut, or the deeper of two cuts that were made at once, or a longer pause; then anything
 * that all agents order alike.
 */
export function isLater(a: Level, b: Level): boolean {
  return (
    (a.epoch - b.epoch ||
      b.base - a.base ||
      a.round - b.round ||
      a.pauseMs - b.pauseMs ||
      compare(a.origin, b.origin) ||
      b.recoveryFactor - a.recoveryFactor ||
      compare(a.recoveryIntervalMs, b.recoveryIntervalMs) ||
      b.most - a.most ||
      compare(a.reason, b.reason)) > 0
  );
}

function compare<T extends string | number>(a: T, b: T): number {
  return a === b ? 0 : a > b ? 1 : -1;
}

/** The later word counts. Of two that say the same the older start does: then nobody recovers later than another. */
export function merge(ours: Level, heard: Level): Level {
  if (isLater(heard, ours)) return heard;
  if (isLater(ours, heard)) return ours;
  const cutAt = Math.min(ours.cutAt, heard.cutAt);
  const pausedAt = Math.min(ours.pausedAt, heard.pausedAt);
  return cutAt === ours.cutAt && pausedAt === ours.pausedAt ? ours : { ...ours, cutAt, pausedAt };
}

/**
 * The later register, with the pause of another register of the same epoch if that pause is longer and ends later: the
 * agent that cut later or deeper may not have known of it. Within an epoch and round the pause only grows, so agents that
 * relay registers to each other converge.
 */
export function withLongerPause(later: Level, other: Level): Level {
  if (other.epoch !== later.epoch || other.pauseMs <= later.pauseMs) return later;
  if (pausedUntil(other) <= pausedUntil(later)) return later;
  return { ...later, pausedAt: other.pausedAt, pauseMs: other.pauseMs };
}

/** True while refusals belong to the congestion of the last cut. A level of exactly 1 is an overload or a full recovery. */
export function isCooling(
  { base, cutAt }: Level,
  { cooldownMs }: Pick<LevelRules, "cooldownMs">,
  now: number,
): boolean {
  return base !== 1 && now - cutAt < cooldownMs;
}

/**
 * What a refusal makes of the level; the same one when it says nothing new.
 * - A request that was sent before we knew of the present level belongs to the congestion that is known already.
 * - Within the cooldown of a cut, all pause a little longer and nobody cuts again.
 * - After it, a refusal cuts. If none came since the last cut, the recovery has gone too far, and a step back is enough.
 */
export function refuse(
  level: Level,
  refused: Refused,
  knownAt: number,
  rules: LevelRules,
  now: number,
  origin: string,
): Level {
  if (refused.sentAt <= knownAt) return level;
  const retryMs = Math.min(LONGEST_RETRY_MS, Math.max(0, refused.retryAfterMs ?? 0));
  const { reason } = refused;
  // A running pause is never shortened.
  const restMs = Math.max(0, pausedUntil(level) - now);
  if (isCooling(level, rules, now) || refused.isOverload) {
    const round = level.round + 1;
    const ownMs = retryMs || Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(round, 16));
    const pauseMs = Math.max(restMs, ownMs);
    const started = level.epoch > 0 ? level : { ...rulesOf(rules), ...FULL_START, cutAt: now };
    return { ...started, round, pausedAt: now, pauseMs, origin, reason };
  }
  const now1 = levelAt(level, now);
  const isProbe = level.epoch > 0 && level.round === 0 && now1 < level.most;
  const reduced = Math.max(rules.least, isProbe ? now1 / STEP_BACK : now1 * rules.reduceFactor);
  // With a minimum of 1, peers would raise anything lower and never agree.
  const base = reduced === 1 && now1 > 1 && rules.least < 1 ? CUT_TO_WHOLE : reduced;
  const { epoch } = level;
  const pauseMs = Math.max(restMs, retryMs || FIRST_PAUSE_MS);
  return { ...rulesOf(rules), epoch: epoch + 1, round: 0, base, cutAt: now, pausedAt: now, pauseMs, origin, reason };
}

/** A new epoch in which nothing is cut: the provider's own numbers show that the limit is whole. */
export function wholeAgain(level: Level, now: number, origin: string): Level {
  const reason = "the provider shows room";
  return { ...level, epoch: level.epoch + 1, round: 0, base: 1, cutAt: now, pausedAt: now, pauseMs: 0, origin, reason };
}

/** An overload before any cut opens an epoch that cuts nothing. */
const FULL_START = { epoch: 1, base: 1 };

function rulesOf({ recoveryFactor, recoveryIntervalMs, most }: LevelRules) {
  return { recoveryFactor, recoveryIntervalMs, most };
}
