import { LONGEST_NEXT_MS } from "../engine/message.ts";

/**
 * What a number in a message may be. Encoder and decoder use the same bounds: the encoder says the nearest number within
 * them, the decoder rejects what is outside. So no state of an honest agent, however old or odd, makes a message that
 * others reject. `beyond` says what a bound means to whoever reads it.
 */
export interface Bound {
  readonly least: number;
  readonly most: number;
  /** A fraction is rejected. */
  readonly isWhole?: true;
  /** How the encoder rounds: fractions of a millisecond are noise, and are read all the same. */
  readonly rounds?: "down" | "up";
  readonly beyond: string;
}

/** The largest number that all languages write and read exactly. */
const MOST = Number.MAX_SAFE_INTEGER;
/** Twenty years: longer than any process lives. */
const LONGEST_AGE_MS = 20 * 365 * 86_400_000;
/** No pause and no step of recovery that means anything is longer. */
const MONTH_MS = 31 * 86_400_000;
/** 32 bits of a hash. */
const MOST_TIE = 2 ** 32 - 1;

const AMOUNT: Bound = { least: 0, most: MOST, beyond: "at least this much; less than nothing is nothing" };
const AGE: Bound = { least: 0, most: LONGEST_AGE_MS, rounds: "down", beyond: "at least this old" };
const COUNT: Bound = { least: 1, most: MOST, isWhole: true, beyond: "never reached: one a microsecond for 285 years" };

/** The bounds of every number of every message, by the object that holds it and its name there. */
export const BOUNDS = {
  presence: {
    life: { least: 0, most: MOST, isWhole: true, beyond: "never reached: microseconds until the year 2255" },
    seq: COUNT,
    chunk: { least: 1, most: 10_000, isWhole: true, beyond: "never reached: messages of 640 MB" },
    chunks: { least: 1, most: 10_000, isWhole: true, beyond: "never reached: messages of 640 MB" },
    up_ms: AGE,
    next_ms: { least: 0, most: LONGEST_NEXT_MS, beyond: "never reached: no agent promises more" },
    weight: { least: 1e-6, most: 1e6, beyond: "never reached: options allow 0.001 to 1,000" },
    members: { least: 1, most: 1e6, isWhole: true, beyond: "at least this many" },
  },
  pool: {
    window_ms: { least: Number.MIN_VALUE, most: MOST, beyond: "never reached: options allow no more" },
    limits: { least: Number.MIN_VALUE, most: MOST, beyond: "at least this much, which nobody reaches" },
    up_ms: AGE,
    sent: AMOUNT,
    back: AMOUNT,
    // Rounded up: what was given back may count from too early on, never from too late.
    back_age_ms: { ...AGE, rounds: "up" },
    used: AMOUNT,
    bins: AMOUNT,
    waiting: AMOUNT,
    turn: { least: 0, most: MOST, beyond: "never reached: a thousand limits a millisecond for 285 years" },
    seen: AMOUNT,
  },
  claim: {
    amounts: AMOUNT,
    next: AMOUNT,
    turn: { least: 0, most: MOST, beyond: "never reached: a thousand limits a millisecond for 285 years" },
    tie: { least: 0, most: MOST_TIE, isWhole: true, beyond: "never reached: a hash of 32 bits" },
    waited_ms: { ...AGE, beyond: "at least this long" },
  },
  level: {
    epoch: { least: 1, most: 1e15, isWhole: true, beyond: "at least this many cuts" },
    round: { least: 0, most: 1e9, isWhole: true, beyond: "at least this many refusals" },
    // Above 1 after a cut of a level that had recovered beyond the configured capacity.
    base: { least: Number.MIN_VALUE, most: 1_000, beyond: "never reached: options allow to recover to 2" },
    recovery_factor: { least: 1, most: 1_000, beyond: "never reached: options allow 1 to 10" },
    recovery_interval_ms: { least: 1, most: MONTH_MS, beyond: "a step every millisecond, or every month" },
    most: { least: 1, most: 1_000, beyond: "never reached: options allow 1 or 2" },
    // Rounded down: an age that grew a little on each way would make the cut older with each agent that passes it on.
    cut_age_ms: AGE,
    pause_age_ms: AGE,
    pause_ms: { least: 0, most: MONTH_MS, beyond: "never reached: a pause is at most a day" },
  },
  announcement: {
    new_capacity: { least: 1, most: MOST, isWhole: true, beyond: "the least that can be told, or at least this much" },
    life: { least: 0, most: MOST, isWhole: true, beyond: "never reached: microseconds until the year 2255" },
    seq: COUNT,
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, Bound>>>>;

/** The nearest number that may be said. What is no number at all is said as the least. */
export function clamped({ least, most, isWhole, rounds }: Bound, value: number): number {
  const number = rounds === "up" ? Math.ceil(value) : isWhole || rounds === "down" ? Math.floor(value) : value;
  // False for NaN, too. Adding 0 makes 0 of -0, which JSON does not keep.
  return number >= least ? Math.min(most, number) + 0 : least;
}

export function clampedAll(bound: Bound, values: readonly number[]): number[] {
  return values.map((value) => clamped(bound, value));
}

/** Whether it may be heard. */
export function isWithin({ least, most, isWhole }: Bound, value: unknown): value is number {
  // False for what is no number, and for NaN.
  return typeof value === "number" && value >= least && value <= most && (!isWhole || Number.isInteger(value));
}
