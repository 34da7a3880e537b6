import type { Clock } from "@hivepace/core";
import { type Amounts, isEqual, scaled } from "../engine/amounts.ts";

/** A try that was denied counts as demand for so long. */
const TRIED_MS = 2_000;
/** It stands for at most so many calls. */
const MOST_DEPTH = 64;
/** Those who try in a loop need not say so each time. */
const SAY_AGAIN_MS = 50;

/** What was asked for without waiting and denied is wanted all the same, for a while: those who only ever try get a part. */
export class Tried {
  readonly #clock: Clock;
  /** Says what is wanted: the next call, and all; nothing any more when undefined. */
  readonly #want: (next: Amounts | undefined, all: Amounts | undefined, now: number) => void;
  #at = -Infinity;
  #cost: Amounts = [];
  /** How many calls a denied try stands for: more when those before it were granted and there are still more. */
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

  /** Those who wait say what is wanted, or nobody asks any more. */
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
