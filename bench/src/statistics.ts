/** The median of some values and the range around it. */
export interface Spread {
  readonly median: number;
  /** The 10th percentile. */
  readonly low: number;
  /** The 90th percentile. */
  readonly high: number;
}

/** Returns the quantile `q` (0 to 1), interpolated between neighbours. */
export function quantile(values: readonly number[], q: number): number {
  if (values.length === 0) throw new RangeError("no values, no quantile");
  const sorted = [...values].sort((a, b) => a - b);
  const position = q * (sorted.length - 1);
  const below = sorted[Math.floor(position)] as number;
  const above = sorted[Math.ceil(position)] as number;
  return below + (above - below) * (position - Math.floor(position));
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

export function spreadOf(values: readonly number[]): Spread {
  return { median: median(values), low: quantile(values, 0.1), high: quantile(values, 0.9) };
}

/**
 * Takes the ratio in each round, then the spread of the ratios: both sides belong to the same round, so that a
 * temporary slowdown of the machine affects both.
 */
export function ratiosOf(values: readonly number[], references: readonly number[]): Spread {
  if (values.length !== references.length) throw new RangeError("a ratio needs both values of every round");
  return spreadOf(values.map((value, round) => value / (references[round] as number)));
}
