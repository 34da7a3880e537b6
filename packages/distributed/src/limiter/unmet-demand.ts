import type { Clock } from "@hivepace/core";
import { type Amounts, isEqual, scaled } from "../engine/index.ts";

/** The time for which a denied `tryAcquire` counts as demand. */
const TRIED_MS = 2_000;
/** The largest number of calls that a denied `tryAcquire` stands for. */
const MOST_DEPTH = 64;
/** The shortest time between two updates of the demand. */
const SAY_AGAIN_MS = 50;

/** The demand of denied `tryAcquire` calls, kept for a while, so that agents that never wait get a share as well. */
export class UnmetDemand {
  readonly #clock: Clock;
  /** Publishes the demand: the next call and the total; undefined withdraws it. */
  readonly #want: (next: Amounts | undefined, all: Amounts | undefined, now: number) => void;
  #at = -Infinity;
  #cost: Amounts = [];
  /** The number of calls that a denied try stands for. It grows while earlier demand is granted and more follows. */
  #depth = 1;
  #isGranted = false;
  #saidAt = -Infinity;
  #cancel: (() => void) | undefined;

  constructor(clock: Clock, want: (next: Amounts | undefined, all: Amounts | undefined, now: number) => void) {
    this.#clock = clock;
    this.#want = want;
  }

  granted(): void {
    this.#isGranted = true;
  }

  denied(cost: Amounts, now: number): void {
    this.#at = now;
    if (!this.#cancel) {
      this.#depth = 1;
      this.#cancel = this.#clock.after(TRIED_MS, () => this.#stop(), { background: true });
    } else if (this.#isGranted) this.#depth = Math.min(MOST_DEPTH, 2 * this.#depth);
    else if (isEqual(cost, this.#cost) && now - this.#saidAt < SAY_AGAIN_MS) return;
    this.#isGranted = false;
    this.#cost = cost;
    this.#saidAt = now;
    this.#want(cost, scaled(cost, this.#depth), now);
  }

  /** Withdraws the demand, because waiters claim it now or the resource was removed. */
  forget(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    this.#saidAt = -Infinity;
  }

  #stop(): void {
    this.#cancel = undefined;
    const now = this.#clock.now();
    const restMs = this.#at + TRIED_MS - now;
    if (restMs > 0) this.#cancel = this.#clock.after(restMs, () => this.#stop(), { background: true });
    else this.#want(undefined, undefined, now);
  }
}
