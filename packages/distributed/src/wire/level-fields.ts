import type { Level } from "../engine/level.ts";
import { type Fields, number, text, whole } from "./fields.ts";

/** No pause, step or age that means anything is longer. */
const MONTH_MS = 31 * 86_400_000;
export const LONGEST_REASON = 200;
const LONGEST_ORIGIN = 256;

/** How a level stands in a message: `cut_age_ms` and `pause_age_ms`, never times, for no two clocks agree. */
export function levelFields(level: Level): object {
  return {
    epoch: level.epoch,
    round: level.round,
    base: level.base,
    recovery_factor: level.recoveryFactor,
    recovery_interval_ms: level.recoveryIntervalMs,
    most: level.most,
    // Rounded down: an age that grew a little on each way would make the cut older with each agent that passes it on.
    cut_age_ms: Math.floor(level.cutAt),
    pause_age_ms: Math.floor(level.pausedAt),
    pause_ms: level.pauseMs,
    origin: level.origin,
    reason: level.reason,
  };
}

/** With ages in the place of times. */
export function readLevel(fields: Fields): Level {
  return {
    epoch: whole(fields, "epoch", 1, 1e15),
    round: whole(fields, "round", 0, 1e9),
    base: number(fields, "base", Number.MIN_VALUE, 1),
    recoveryFactor: number(fields, "recovery_factor", 1, 1_000),
    recoveryIntervalMs: number(fields, "recovery_interval_ms", 1, MONTH_MS),
    most: number(fields, "most", 1, 1_000),
    cutAt: number(fields, "cut_age_ms", 0, MONTH_MS),
    pausedAt: number(fields, "pause_age_ms", 0, MONTH_MS),
    pauseMs: number(fields, "pause_ms", 0, MONTH_MS),
    origin: text(fields, "origin", LONGEST_ORIGIN),
    reason: text(fields, "reason", LONGEST_REASON, 0),
  };
}
