import { LONGEST_NEXT_MS, LONGEST_STAY_MS } from "../engine/index.ts";

/**
 * The range of a numeric field. Encoder and decoder share it: the encoder clamps, the decoder rejects. No state of an
 * honest agent can therefore produce a message that peers reject. `beyond` documents what a clamped value means.
 */
export interface Bound {
  readonly least: number;
  readonly most: number;
  /** The decoder rejects fractions. */
  readonly isWhole?: true;
  /** Direction in which the encoder rounds to whole milliseconds. The decoder accepts fractions. */
  readonly rounds?: "down" | "up";
  readonly beyond: string;
}

/** The largest integer that JSON parsers of all languages read exactly. */
const MOST = Number.MAX_SAFE_INTEGER;
/** Twenty years: longer than any process lives. */
const LONGEST_AGE_MS = 20 * 365 * 86_400_000;
/** Upper bound of pauses and recovery steps. */
const MONTH_MS = 31 * 86_400_000;
/** Bounds the size of a join snapshot. */
const MOST_BINS = 1_024;
/** 32 bits of a hash. */
const MOST_TIE = 2 ** 32 - 1;

const AMOUNT: Bound = { least: 0, most: MOST, beyond: "at least this much; less than nothing is nothing" };
const AGE: Bound = { least: 0, most: LONGEST_AGE_MS, rounds: "down", beyond: "at least this old" };
const COUNT: Bound = { least: 1, most: MOST, isWhole: true, beyond: "never reached: one a microsecond for 285 years" };

/** The bounds of every numeric field, by message part and field name. */
export const BOUNDS = {
  presence: {
    life: { least: 0, most: MOST, isWhole: true, beyond: "never reached: microseconds until the year 2255" },
    seq: COUNT,
    chunk: { least: 1, most: 10_000, isWhole: true, beyond: "never reached: messages of 640 MB" },
    chunks: { least: 1, most: 10_000, isWhole: true, beyond: "never reached: messages of 640 MB" },
    up_ms: AGE,
    next_ms: { least: 0, most: LONGEST_NEXT_MS, beyond: "never reached: no agent promises more" },
    // Rounded up: agents may wait for each other for too long, never for too short a time.
    echo_ms: { least: 0, most: 60_000, rounds: "up", beyond: "at least this slow" },
    weight: { least: 1e-6, most: 1e6, beyond: "never reached: options allow 0.001 to 1,000" },
    members: { least: 1, most: 1e6, isWhole: true, beyond: "at least this many" },
  },
  chain: {
    part: COUNT,
    n: { least: 1, most: 1_024, isWhole: true, beyond: "never reached: a segment has 1,024 messages" },
  },
  quota: {
    window_ms: { least: Number.MIN_VALUE, most: MOST, beyond: "never reached: options allow no more" },
    limits: { least: Number.MIN_VALUE, most: MOST, beyond: "at least this much, which nobody reaches" },
    sent: AMOUNT,
    back: AMOUNT,
    // Rounded up: a refund may count from too early on, never from too late.
    back_age_ms: { ...AGE, rounds: "up" },
    used: AMOUNT,
    bins: AMOUNT,
    waiting: AMOUNT,
    turn: { least: 0, most: MOST, beyond: "never reached: a thousand limits a millisecond for 285 years" },
    seen: AMOUNT,
    seen_bins: { least: 1, most: MOST_BINS, isWhole: true, beyond: "never reached: agents send 120" },
    // Rounded up: slots may be held for longer than needed, and are never freed too early.
    held_ms: { ...AGE, rounds: "up" },
    ends_ms: { ...AGE, rounds: "up" },
    departed: AMOUNT,
    departed_ms: { ...AGE, rounds: "up" },
  },
  adaptive: {
    epoch: { least: 0, most: 1e15, isWhole: true, beyond: "at least this many cuts" },
    base: { least: 1, most: MOST, isWhole: true, beyond: "at least this many slots" },
    steps: { least: 0, most: MOST, isWhole: true, beyond: "at least this many slots" },
    age_ms: AGE,
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
    // Rounded down: if the age were rounded up, every relay would make the cut older.
    cut_age_ms: AGE,
    pause_age_ms: AGE,
    pause_ms: { least: 0, most: MONTH_MS, beyond: "never reached: a pause is at most a day" },
  },
  availability: {
    epoch: { least: 1, most: 1e15, isWhole: true, beyond: "at least this many changes" },
    count: { least: 0, most: 1e6, isWhole: true, beyond: "the longest wait is reached long before" },
    since_age_ms: AGE,
    age_ms: AGE,
    wait_ms: { least: 0, most: MONTH_MS, beyond: "never reached: a park without an end is a month" },
    // Rounded up, because 0 means unknown.
    refusal_ms: { ...AGE, rounds: "up" },
    probes: { least: 0, most: 1e9, isWhole: true, beyond: "never reached: a probe every second for 31 years" },
    probe_age_ms: AGE,
    answered: { least: 0, most: MOST, isWhole: true, beyond: "never reached: one a microsecond for 285 years" },
  },
  park: {
    for_ms: { least: 1, most: MONTH_MS, beyond: "a month, which means until it is unparked" },
    at: { least: 0, most: 8.64e15, beyond: "never reached: the last time that a Date can hold" },
  },
  climb: {
    good: { least: Number.MIN_VALUE, most: 1_000, beyond: "never reached: options allow to recover to 2" },
    hold_ms: { least: 0, most: MONTH_MS, beyond: "a month" },
    climb_ms: { least: 1, most: MONTH_MS, beyond: "a month" },
    probe_ms: { least: 0, most: MONTH_MS, beyond: "a month" },
    grow_ms: { least: 1, most: MONTH_MS, beyond: "a month" },
    failures: { least: 0, most: 1e9, isWhole: true, beyond: "at least this many" },
  },
  spread: {
    window_ms: { least: 1_000, most: MOST, beyond: "never reached: a second or more, and a part of the window" },
    used: { least: 0, most: 1e6, beyond: "at least this much" },
    age_ms: AGE,
    stay_ms: { least: 0, most: LONGEST_STAY_MS, beyond: "never reached: a day at most" },
  },
  announcement: {
    new_capacity: { least: 1, most: MOST, isWhole: true, beyond: "the least that can be told, or at least this much" },
    life: { least: 0, most: MOST, isWhole: true, beyond: "never reached: microseconds until the year 2255" },
    seq: COUNT,
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, Bound>>>>;

/** The nearest value within the bound. NaN becomes the lower bound. */
export function clamped({ least, most, isWhole, rounds }: Bound, value: number): number {
  const number = rounds === "up" ? Math.ceil(value) : isWhole || rounds === "down" ? Math.floor(value) : value;
  // The comparison is false for NaN. Adding 0 turns -0 into 0, because JSON does not preserve -0.
  return number >= least ? Math.min(most, number) + 0 : least;
}

export function clampedAll(bound: Bound, values: readonly number[]): number[] {
  return values.map((value) => clamped(bound, value));
}

/** True when a received value satisfies the bound. */
export function isWithin({ least, most, isWhole }: Bound, value: unknown): value is number {
  // The comparisons are false for NaN.
  return typeof value === "number" && value >= least && value <= most && (!isWhole || Number.isInteger(value));
}
