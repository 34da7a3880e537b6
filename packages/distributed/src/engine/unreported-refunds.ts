import { type Amounts, addTo, at } from "./amounts.ts";

/** Number of refunds in one report. Further ones are merged with their neighbours. */
export const MOST_REFUNDS = 8;

/**
 * The unused part of the estimates of calls that were sent together. In messages `ageMs` is the time since they were
 * sent.
 */
export interface Refund {
  readonly ageMs: number;
  readonly amounts: Amounts;
}

/**
 * The refunds that no report contains, by the time of their calls. Merged refunds count from the earliest of their
 * calls: the capacity they free may end too early, never too late.
 */
export class UnreportedRefunds {
  /** Times of the calls, ascending, and the amounts of each. */
  readonly #sentAt: number[] = [];
  readonly #amounts: number[][] = [];

  add(sentAt: number, amounts: Amounts): void {
    const times = this.#sentAt;
    let i = times.length;
    while (i > 0 && at(times, i - 1) > sentAt) i--;
    if (i === times.length) {
      times.push(sentAt);
      this.#amounts.push(amounts.slice());
    } else {
      times.splice(i, 0, sentAt);
      this.#amounts.splice(i, 0, amounts.slice());
    }
    if (times.length > MOST_REFUNDS) this.#merge();
  }

  /** Returns the refunds for a report, oldest calls first, and forgets them. */
  take(now: number): Refund[] {
    const refunds = this.#amounts.map((amounts, i) => ({ ageMs: Math.max(0, now - at(this.#sentAt, i)), amounts }));
    this.#sentAt.length = 0;
    this.#amounts.length = 0;
    return refunds;
  }

  /** Merges the two neighbours that are closest in time. */
  #merge(): void {
    const times = this.#sentAt;
    const amounts = this.#amounts;
    let closest = 1;
    let least = Infinity;
    for (let i = 1; i < times.length; i++) {
      const gap = at(times, i) - at(times, i - 1);
      if (gap >= least) continue;
      closest = i;
      least = gap;
    }
    addTo(amounts[closest - 1] as number[], amounts[closest] as number[]);
    // Moves the later refunds one place down. `splice` would create an array for every merge.
    for (let i = closest + 1; i < times.length; i++) {
      times[i - 1] = at(times, i);
      amounts[i - 1] = amounts[i] as number[];
    }
    times.pop();
    amounts.pop();
  }
}
