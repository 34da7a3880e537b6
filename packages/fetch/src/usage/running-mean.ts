/** Weight of the deviation after one sample, beyond the usual one. It falls with the root of the number of samples. */
const FEW = 3;

/** A mean that follows the newest samples, and how far samples lie from it on average. */
export class RunningMean {
  readonly #newest: number;
  #mean = 0;
  #deviation = 0;
  #count = 0;

  /** `newest` is the weight of the newest sample once there are enough samples. A small weight means a long memory. */
  constructor(newest: number) {
    this.#newest = newest;
  }

  get count(): number {
    return this.#count;
  }

  get mean(): number {
    return this.#mean;
  }

  /** The mean plus one mean deviation, and more of it after few samples: an estimate that is rarely too low. */
  get upper(): number {
    return this.#mean + this.#deviation * (1 + FEW / Math.sqrt(Math.max(1, this.#count)));
  }

  add(sample: number): void {
    this.#count++;
    // The first samples have equal weights, so that the very first one does not dominate.
    const weight = Math.max(this.#newest, 1 / this.#count);
    if (this.#count > 1) this.#deviation += weight * (Math.abs(sample - this.#mean) - this.#deviation);
    this.#mean += weight * (sample - this.#mean);
  }
}
