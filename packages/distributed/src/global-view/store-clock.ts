/**
 * What the store's clock shows, by our own. Each answer says that the store's clock showed `epochMs` at some moment
 * between the question and the answer; the estimate is the nearest to the last one that does not contradict it. So it
 * stands still while the clocks do, gets better with every quick answer, and follows a store whose clock is set.
 */
export class StoreClock {
  #offsetMs: number | undefined;

  hear(epochMs: number, askedAt: number, answeredAt: number): void {
    const [least, most] = [epochMs - answeredAt, epochMs - askedAt];
    const offsetMs = this.#offsetMs ?? (least + most) / 2;
    this.#offsetMs = Math.min(most, Math.max(least, offsetMs));
  }

  /** What it shows when our clock shows `now`; undefined as long as it was never heard. */
  at(now: number): number | undefined {
    return this.#offsetMs === undefined ? undefined : now + this.#offsetMs;
  }
}
