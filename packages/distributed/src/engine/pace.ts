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
    const ms = now - this.#at;
    if (ms > 0) {
      this.#at = now;
      for (let i = 0; i < perMs.length; i++) {
        const ahead = at(this.#ahead, i);
        const left = Math.abs(ahead) - ms * at(perMs, i);
        // The difference is NaN when nothing was ever added and the pace is 0.
        this.#ahead[i] = left > 0 ? Math.sign(ahead) * left : 0;
      }
    }
    // The pace may be slower than it was when the usage was added.
    for (let i = 0; i < perMs.length; i++) {
      const most = at(perMs, i) * this.#windowMs;
      this.#ahead[i] = Math.max(-most, Math.min(at(this.#ahead, i), most));
    }
    return this.#ahead;
  }
}
