import { seededRandom } from "@hivepace/core/testing";

/** Random choices that follow from a seed. */
export class Dice {
  readonly #random: () => number;

  constructor(seed: number) {
    this.#random = seededRandom(seed * 2_654_435_761 + 97);
  }

  chance(part: number): boolean {
    return this.#random() < part;
  }

  /** A whole number, both ends included. */
  between(least: number, most: number): number {
    return Math.floor(least + (most - least + 1) * this.#random());
  }

  /** Any number in between. */
  fraction(least: number, most: number): number {
    return least + (most - least) * this.#random();
  }

  pick<T>(from: readonly T[]): T {
    return from[this.between(0, from.length - 1)] as T;
  }

  /** At least one of them, in their order. */
  some<T>(from: readonly T[]): T[] {
    const chosen = from.filter(() => this.chance(0.5));
    return chosen.length > 0 ? chosen : [this.pick(from)];
  }

  /** The property with the given chance, or an empty object: for optional arguments. */
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
