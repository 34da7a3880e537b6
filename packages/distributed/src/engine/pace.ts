import { type Amounts, at, zeros } from "./amounts.ts";
import { pick } from "./dimensions.ts";

/**
 * How far the swarm is ahead of a steady pace: a bucket that leaks at that pace and is filled by usage. It holds one window
 * of the pace at most: usage that has left the window holds nobody back.
 */
export class Pace {
  readonly #ahead: number[];
  readonly #windowMs: number;
  #at = -Infinity;

  constructor(dimensions: number, windowMs: number) {
    this.#ahead = zeros(dimensions);
    this.#windowMs = windowMs;
  }

  inherit(other: Pace, indices: readonly number[]): void {
    this.#at = other.#at;
    pick(other.#ahead, indices).forEach((amount, i) => {
      this.#ahead[i] = amount;
    });
  }

  add(now: number, amounts: Amounts, perMs: Amounts): void {
    const ahead = this.at(now, perMs);
    for (let i = 0; i < ahead.length; i++) ahead[i] = Math.max(0, at(ahead, i) + at(amounts, i));
  }

  at(now: number, perMs: Amounts): number[] {
    const ms = now - this.#at;
    if (ms > 0) {
      this.#at = now;
      for (let i = 0; i < perMs.length; i++) {
        const left = at(this.#ahead, i) - ms * at(perMs, i);
        // Not a number when nothing was ever added and the pace is none.
        this.#ahead[i] = left > 0 ? left : 0;
      }
    }
    // The pace may be slower than it was when the usage was added.
    for (let i = 0; i < perMs.length; i++) this.#ahead[i] = Math.min(at(this.#ahead, i), at(perMs, i) * this.#windowMs);
    return this.#ahead;
  }
}
