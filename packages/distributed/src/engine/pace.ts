import { type Amounts, at, zeros } from "./amounts.ts";
import { pick } from "./dimensions.ts";

/**
 * A leaky bucket that measures how far the swarm is ahead of a steady pace: usage fills it, and it drains at the pace. It
 * holds at most one window of the pace, because usage that has left the window must not delay anyone.
 *
 * A refund that comes after its usage has drained is credit: the bucket is below zero, and rises to zero at the pace.
 * Without credit the pace would count estimates, and calls that use a tenth of theirs would use a tenth of the limit.
 */
export class Pace {
  readonly #ahead: number[];
  readonly #windowMs: number;
  #at = -Infinity;

  constructor(dimensions: number, windowMs: number) {
    this.#ahead = zeros(dimensions);
    this.#windowMs = windowMs;
  }

  /** Copies the lead of another bucket in the dimensions at `indices`. */
  inherit(other: Pace, indices: readonly number[]): void {
    this.#at = other.#at;
    pick(other.#ahead, indices).forEach((amount, i) => {
      this.#ahead[i] = amount;
    });
  }

  /** Adds usage at the present pace `perMs`; negative amounts are refunds. `withCredit`: the bucket may fall below zero. */
  add(now: number, amounts: Amounts, perMs: Amounts, withCredit = false): void {
    const ahead = this.at(now, perMs);
    for (let i = 0; i < ahead.length; i++) {
      const least = withCredit ? -at(perMs, i) * this.#windowMs : 0;
      ahead[i] = Math.max(least, at(ahead, i) + at(amounts, i));
    }
  }

  /** The lead over the pace `perMs`. The result is live: the caller must not change or keep it. */
  at(now: number, perMs: Amounts): number[] {
    const aheads = this.#ahead;
    const ms = now - this.#at;
    if (ms > 0) this.#at = now;
    for (let i = 0; i < perMs.length; i++) {
      const drained = at(perMs, i) * Math.max(0, ms);
      const ahead = at(aheads, i);
      // The bounds of a pace that is slower than it was when the usage was added.
      const most = at(perMs, i) * this.#windowMs;
      // The amount of drained usage is NaN when nothing was ever added and the pace is 0.
      if (ahead > 0) aheads[i] = ahead > drained ? Math.min(ahead - drained, most) : 0;
      else if (ahead < 0) aheads[i] = -ahead > drained ? Math.max(ahead + drained, -most) : 0;
    }
    return aheads;
  }
}
