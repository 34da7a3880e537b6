import type { Dice } from "../core/dice.ts";

export const SECOND = 1_000;
export const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** The source of a program's numbers. */
export interface Values {
  windowMs(): number;
  requests(): number;
  allTokens(): number;
  someTokens(): number;
  /** The tokens of a call. */
  cost(): number;
  /** A limit that an answer shows, right or wrong. */
  learned(): number;
  learnedWindowMs(): number;
  idleMs(): number;
}

/** Numbers that reach the limits now and then, so that the model has something to compare. */
export function usual(dice: Dice): Values {
  return {
    windowMs: () => dice.pick([MINUTE, MINUTE, 10 * SECOND, 5 * SECOND]),
    requests: () => dice.pick([0, 1, 2, 5, 30, 100, 0.5]),
    allTokens: () => dice.pick([100, 1_000, 5_000]),
    someTokens: () => dice.pick([100, 1_000]),
    cost: () => dice.pick([0, 1, 10, 90, 400, 3_000]),
    learned: () => dice.pick([5, 40, 2_000, -1, 0, Number.NaN]),
    learnedWindowMs: () => dice.pick([SECOND, MINUTE, 10 * MINUTE, HOUR, 0, Number.NaN]),
    idleMs: () => dice.pick([10 * SECOND, 2 * MINUTE, DAY, 40 * DAY, 800 * DAY]),
  };
}

/** Numbers at the edges of the allowed ranges: every message about them must still decode. */
export function extreme(dice: Dice): Values {
  const limit = () => dice.pick([0.001, 1, 3, 1_000, 1e12, Number.MAX_SAFE_INTEGER, dice.fraction(1e-6, 1e4)]);
  const windowMs = () => dice.pick([1, 10, SECOND, MINUTE, HOUR, 7 * DAY, dice.fraction(1, 1e6)]);
  return {
    windowMs,
    requests: limit,
    allTokens: limit,
    someTokens: limit,
    cost: () => dice.pick([0, 1, 1_000 / 3, Number.MIN_VALUE, dice.fraction(0, 1e3), 1e12]),
    learned: limit,
    learnedWindowMs: windowMs,
    idleMs: () => dice.pick([DAY, 40 * DAY, 365 * DAY, 25 * 365 * DAY]),
  };
}
