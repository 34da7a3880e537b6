/** The first round opens what is opened once: pools, caches, compiled code. */
export const WARM_UP = 1;
/** And as many more as it takes to see a trend. */
export const FEWEST_ROUNDS = WARM_UP + 3;

/** What may grow from the first rounds to the last: the larger of the two. */
export interface Allowance {
  readonly part: number;
  readonly amount: number;
}

/** One figure of one process or of the broker, a value for each round. */
export interface Series {
  readonly name: string;
  readonly values: readonly number[];
  readonly allowance: Allowance;
}

/** What was compared: the least of the first third of the rounds, of the second, and of the last. */
export interface Trend {
  readonly name: string;
  readonly values: readonly number[];
  readonly least: readonly [first: number, middle: number, last: number];
  readonly allowed: number;
  readonly grows: boolean;
}

export const NOTHING: Allowance = { part: 0, amount: 0 };

/**
 * Growth is a trend: the least of each third of the rounds is more than that of the one before, and in all it is more than is
 * allowed. One high value changes no least; a step that comes once, early or late, is no trend.
 */
export function trendOf({ name, values, allowance }: Series): Trend {
  if (values.length < FEWEST_ROUNDS)
    throw new RangeError(`${name} needs ${FEWEST_ROUNDS} rounds to show a trend, not ${values.length}`);
  const counted = values.slice(WARM_UP);
  // The middle takes what cannot be divided.
  const third = Math.floor(counted.length / 3);
  const first = Math.min(...counted.slice(0, third));
  const middle = Math.min(...counted.slice(third, -third));
  const last = Math.min(...counted.slice(-third));
  const allowed = Math.max(allowance.amount, allowance.part * first);
  const step = allowed / 4;
  const grows = middle - first > step && last - middle > step && last - first > allowed;
  return { name, values, least: [first, middle, last], allowed, grows };
}

/** Something that must not be there: in a round, or when all have left. */
export interface Remains {
  readonly name: string;
  readonly count: number;
  /** Which, as far as one can tell. */
  readonly which?: readonly string[] | undefined;
}

export interface Verdict {
  readonly trends: readonly Trend[];
  readonly failures: readonly string[];
}

/** All that was held must not grow, and nothing may remain. */
export function judge(series: readonly Series[], remains: readonly Remains[]): Verdict {
  const trends = series.map(trendOf);
  const grown = trends.filter(({ grows }) => grows).map(tellGrowth);
  const left = remains.filter(({ count }) => count > 0).map(tellRemains);
  return { trends, failures: [...grown, ...left] };
}

function tellGrowth({ name, least, allowed, values }: Trend): string {
  return `${name} grows: at least ${least.join(", then ")}, where ${Math.floor(allowed)} more is allowed (by round: ${values.join(" ")})`;
}

const MOST_NAMED = 5;

function tellRemains({ name, count, which = [] }: Remains): string {
  const names = which.slice(0, MOST_NAMED).join(", ");
  return `${name}: ${count} left${names === "" ? "" : ` (${names}${which.length > MOST_NAMED ? ", …" : ""})`}`;
}
