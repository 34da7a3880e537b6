/** Warm-up rounds are not counted: they open pools, caches and compiled code once. */
export const WARM_UP = 1;
/** The minimum number of rounds that show a trend. */
export const FEWEST_ROUNDS = WARM_UP + 3;

/** Allowed growth from the first rounds to the last: the larger of a fraction and an amount. */
export interface Allowance {
  readonly part: number;
  readonly amount: number;
}

/** One figure of one process or of the broker, with a value per round. */
export interface Series {
  readonly name: string;
  readonly values: readonly number[];
  readonly allowance: Allowance;
}

/** The comparison of a series: the minimum of the first, second and last third of the rounds. */
export interface Trend {
  readonly name: string;
  readonly values: readonly number[];
  readonly least: readonly [first: number, middle: number, last: number];
  readonly allowed: number;
  readonly grows: boolean;
}

export const NOTHING: Allowance = { part: 0, amount: 0 };

/**
 * Detects growth as a trend: the minimum of each third of the rounds exceeds that of the previous third, and the total
 * growth exceeds the allowance. A single high value changes no minimum, and a single step, early or late, is no trend.
 */
export function trendOf({ name, values, allowance }: Series): Trend {
  if (values.length < FEWEST_ROUNDS)
    throw new RangeError(`${name} needs ${FEWEST_ROUNDS} rounds to show a trend, not ${values.length}`);
  const counted = values.slice(WARM_UP);
  // The middle third takes the remainder of the division.
  const third = Math.floor(counted.length / 3);
  const first = Math.min(...counted.slice(0, third));
  const middle = Math.min(...counted.slice(third, -third));
  const last = Math.min(...counted.slice(-third));
  const allowed = Math.max(allowance.amount, allowance.part * first);
  const step = allowed / 4;
  const grows = middle - first > step && last - middle > step && last - first > allowed;
  return { name, values, least: [first, middle, last], allowed, grows };
}

/** A resource that must not exist: in any round, or after all agents have left. */
export interface Remains {
  readonly name: string;
  readonly count: number;
  /** Names of the resources, as far as they are known. */
  readonly which?: readonly string[] | undefined;
}

export interface Verdict {
  readonly trends: readonly Trend[];
  readonly failures: readonly string[];
}

/** Fails for every series that grows and every resource that remains. */
export function judge(series: readonly Series[], remains: readonly Remains[]): Verdict {
  const trends = series.map(trendOf);
  const grown = trends.filter(({ grows }) => grows).map(describeGrowth);
  const left = remains.filter(({ count }) => count > 0).map(describeRemains);
  return { trends, failures: [...grown, ...left] };
}

function describeGrowth({ name, least, allowed, values }: Trend): string {
  return `${name} grows: minimum of each third ${least.join(", ")}; allowed growth ${Math.floor(allowed)} (by round: ${values.join(" ")})`;
}

const MOST_NAMED = 5;

function describeRemains({ name, count, which = [] }: Remains): string {
  const names = which.slice(0, MOST_NAMED).join(", ");
  return `${name}: ${count} left${names === "" ? "" : ` (${names}${which.length > MOST_NAMED ? ", …" : ""})`}`;
}
