import type { Level } from "../engine/level.ts";
import { BOUNDS, clamped } from "./bounds.ts";
import { type Fields, number, text } from "./fields.ts";

export const LONGEST_REASON = 200;
const LONGEST_ORIGIN = 256;

const bounds = BOUNDS.level;

/** How a level stands in a message: `cut_age_ms` and `pause_age_ms`, never times, for no two clocks agree. */
export function levelFields(level: Level): object {
  return {
    epoch: clamped(bounds.epoch, level.epoch),
    round: clamped(bounds.round, level.round),
    base: clamped(bounds.base, level.base),
    recovery_factor: clamped(bounds.recovery_factor, level.recoveryFactor),
    recovery_interval_ms: clamped(bounds.recovery_interval_ms, level.recoveryIntervalMs),
    most: clamped(bounds.most, level.most),
    cut_age_ms: clamped(bounds.cut_age_ms, level.cutAt),
    pause_age_ms: clamped(bounds.pause_age_ms, level.pausedAt),
    pause_ms: clamped(bounds.pause_ms, level.pauseMs),
    origin: level.origin,
    reason: level.reason,
  };
}

/** With ages in the place of times. */
export function readLevel(fields: Fields): Level {
  return {
    epoch: number(fields, "epoch", bounds.epoch),
    round: number(fields, "round", bounds.round),
    base: number(fields, "base", bounds.base),
    recoveryFactor: number(fields, "recovery_factor", bounds.recovery_factor),
    recoveryIntervalMs: number(fields, "recovery_interval_ms", bounds.recovery_interval_ms),
    most: number(fields, "most", bounds.most),
    cutAt: number(fields, "cut_age_ms", bounds.cut_age_ms),
    pausedAt: number(fields, "pause_age_ms", bounds.pause_age_ms),
    pauseMs: number(fields, "pause_ms", bounds.pause_ms),
    origin: text(fields, "origin", LONGEST_ORIGIN),
    reason: text(fields, "reason", LONGEST_REASON, 0),
  };
}
