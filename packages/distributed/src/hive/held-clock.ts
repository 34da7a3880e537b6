import type { Clock } from "@hivepace/core";

/**
 * A clock that can be held at the time of a decision. The object that uses it then sees the time that the decision was
 * made with, and does not read the real clock again.
 */
export class HeldClock implements Clock {
  readonly #clock: Clock;
  /** NaN while the clock is not held. */
  #heldAt = Number.NaN;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  hold(now: number): void {
    this.#heldAt = now;
  }

  release(): void {
    this.#heldAt = Number.NaN;
  }

  now(): number {
    return Number.isNaN(this.#heldAt) ? this.#clock.now() : this.#heldAt;
  }

  epochMs(): number {
    return this.#clock.epochMs();
  }

  after(...of: Parameters<Clock["after"]>): ReturnType<Clock["after"]> {
    return this.#clock.after(...of);
  }
}
