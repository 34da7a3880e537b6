import type { Climb, Level, Spread } from "../engine/index.ts";
import { BOUNDS, clamped } from "./bounds.ts";
import { dimensionNames, type Fields, MOST_DIMENSIONS, number, object, text } from "./fields.ts";

export const LONGEST_REASON = 200;
const LONGEST_ORIGIN = 256;

const bounds = BOUNDS.level;

/**
 * The fields of a level in a message. `cut_age_ms` and `pause_age_ms` are ages, because clocks differ between agents.
 */
export function levelFields(level: Level): object {
  return {
    epoch: clamped(bounds.epoch, level.epoch),
    round: clamped(bounds.round, level.pauseCount),
    base: clamped(bounds.base, level.levelAtCut),
    recovery_factor: clamped(bounds.recovery_factor, level.recoveryFactor),
    recovery_interval_ms: clamped(bounds.recovery_interval_ms, level.recoveryIntervalMs),
    most: clamped(bounds.most, level.levelMax),
    cut_age_ms: clamped(bounds.cut_age_ms, level.cutAt),
    pause_age_ms: clamped(bounds.pause_age_ms, level.pausedAt),
    pause_ms: clamped(bounds.pause_ms, level.pauseMs),
    origin: level.origin,
    reason: level.reason,
    ...(level.climb ? { climb: climbFields(level.climb) } : {}),
    ...(level.spread ? { spread: spreadFields(level.spread) } : {}),
  };
}

function spreadFields({ dimensions, windowMs, used, at, stayMs }: Spread): object {
  return {
    dimensions,
    window_ms: clamped(BOUNDS.spread.window_ms, windowMs),
    used: clamped(BOUNDS.spread.used, used),
    age_ms: clamped(BOUNDS.spread.age_ms, at),
    stay_ms: clamped(BOUNDS.spread.stay_ms, stayMs),
  };
}

function readSpread(fields: Fields): Spread {
  return {
    dimensions: dimensionNames(fields["dimensions"], MOST_DIMENSIONS),
    windowMs: number(fields, "window_ms", BOUNDS.spread.window_ms),
    used: number(fields, "used", BOUNDS.spread.used),
    at: number(fields, "age_ms", BOUNDS.spread.age_ms),
    stayMs: number(fields, "stay_ms", BOUNDS.spread.stay_ms),
  };
}

function climbFields({ good, holdMs, climbMs, probeMs, growMs, failures }: Climb): object {
  return {
    good: clamped(BOUNDS.climb.good, good),
    hold_ms: clamped(BOUNDS.climb.hold_ms, holdMs),
    climb_ms: clamped(BOUNDS.climb.climb_ms, climbMs),
    probe_ms: clamped(BOUNDS.climb.probe_ms, probeMs),
    grow_ms: clamped(BOUNDS.climb.grow_ms, growMs),
    failures: clamped(BOUNDS.climb.failures, failures),
  };
}

function readClimb(fields: Fields): Climb {
  return {
    good: number(fields, "good", BOUNDS.climb.good),
    holdMs: number(fields, "hold_ms", BOUNDS.climb.hold_ms),
    climbMs: number(fields, "climb_ms", BOUNDS.climb.climb_ms),
    probeMs: number(fields, "probe_ms", BOUNDS.climb.probe_ms),
    growMs: number(fields, "grow_ms", BOUNDS.climb.grow_ms),
    failures: number(fields, "failures", BOUNDS.climb.failures),
  };
}

/** Reads a level, with ages instead of times. */
export function readLevel(fields: Fields): Level {
  return {
    epoch: number(fields, "epoch", bounds.epoch),
    pauseCount: number(fields, "round", bounds.round),
    levelAtCut: number(fields, "base", bounds.base),
    recoveryFactor: number(fields, "recovery_factor", bounds.recovery_factor),
    recoveryIntervalMs: number(fields, "recovery_interval_ms", bounds.recovery_interval_ms),
    levelMax: number(fields, "most", bounds.most),
    cutAt: number(fields, "cut_age_ms", bounds.cut_age_ms),
    pausedAt: number(fields, "pause_age_ms", bounds.pause_age_ms),
    pauseMs: number(fields, "pause_ms", bounds.pause_ms),
    origin: text(fields, "origin", LONGEST_ORIGIN),
    reason: text(fields, "reason", LONGEST_REASON, 0),
    ...(fields["climb"] === undefined ? {} : { climb: readClimb(object(fields["climb"], "climb")) }),
    ...(fields["spread"] === undefined ? {} : { spread: readSpread(object(fields["spread"], "spread")) }),
  };
}
