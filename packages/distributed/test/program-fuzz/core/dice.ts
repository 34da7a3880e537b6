import { seededRandom } from "@hivepace/core/testing";

/** Deterministic random choices from a seed. */
export class Dice {
  readonly #random: () => number;

  constructor(seed: number) {
    this.#random = seededRandom(seed * 2_654_435_761 + 97);
  }

  chance(part: number): boolean {
    return this.#random() < part;
  }

  /** A random whole number, both bounds included. */
  between(least: number, most: number): number {
    return Math.floor(least + (most - least + 1) * this.#random());
  }

  /** A random number between the bounds. */
  fraction(least: number, most: number): number {
    return least + (most - least) * this.#random();
  }

  pick<T>(from: readonly T[]): T {
    return from[this.between(0, from.length - 1)] as T;
  }

  /** A random, non-empty subset, in the original order. */
  some<T>(from: readonly T[]): T[] {
    const chosen = from.filter(() => this.chance(0.5));
    return chosen.length > 0 ? chosen : [this.pick(from)];
  }

  /** The result of `make` with the given probability, else an empty object: for optional arguments. */
  maybe<T extends object>(part: number, make: () => T): T | Record<never, never> {
    return this.chance(part) ? make() : {};
  }

  weighted<T>(from: readonly (readonly [weight: number, value: T])[]): T {
    let left = this.#random() * from.reduce((sum, [weight]) => sum + weight, 0);
    for (const [weight, value] of from) {
      left -= weight;
      if (left < 0) return value;
    }
    return (from[0] as readonly [number, T])[1];
  }
}
