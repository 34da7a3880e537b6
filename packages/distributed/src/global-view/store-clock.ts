/**
 * An estimate of the store's clock, relative to the local clock. Each answer proves that the store's clock showed
 * `epochMs` at some moment between the question and the answer. The estimate is the one nearest to the previous
 * estimate that does not contradict the answer. The estimate is therefore stable while the clocks are, improves with
 * every quick answer, and follows a store whose clock is set.
 */
export class StoreClock {
  #offsetMs: number | undefined;

  receive(epochMs: number, askedAt: number, answeredAt: number): void {
    const [least, most] = [epochMs - answeredAt, epochMs - askedAt];
    const offsetMs = this.#offsetMs ?? (least + most) / 2;
    this.#offsetMs = Math.min(most, Math.max(least, offsetMs));
  }

  /** The time of the store's clock when the local clock shows `now`; undefined before the first answer. */
  at(now: number): number | undefined {
    return this.#offsetMs === undefined ? undefined : now + this.#offsetMs;
  }
}
