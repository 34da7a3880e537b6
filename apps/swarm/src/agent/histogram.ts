const GROWTH = 1.02;
const LOG_GROWTH = Math.log(GROWTH);

/** A latency histogram with buckets 2 % wide: a few hundred counters give the quantiles of any number of calls. */
export class Histogram {
  readonly #counts = new Map<number, number>();
  #total = 0;

  add(ms: number): void {
    const bucket = Math.floor(Math.log(Math.max(1, ms)) / LOG_GROWTH);
    this.#counts.set(bucket, (this.#counts.get(bucket) ?? 0) + 1);
    this.#total++;
  }

  /** Returns the quantile of `part` (0 to 1), to 2 %; undefined while the histogram is empty. */
  quantile(part: number): number | undefined {
    if (this.#total === 0) return undefined;
    let left = Math.max(1, Math.ceil(part * this.#total));
    for (const [bucket, count] of [...this.#counts].sort(([a], [b]) => a - b)) {
      left -= count;
      if (left <= 0) return GROWTH ** (bucket + 0.5);
    }
    return undefined;
  }
}
