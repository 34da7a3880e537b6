import { type Amounts, addTo, at, fits, minus, scaled, zeros } from "../engine/index.ts";
import { ExactWindow } from "./exact-window.ts";

/** One exactly enforced limit of a provider. All amounts have the dimensions of the limit. */
export interface Counter {
  /** Whether these amounts fit within the remaining capacity. */
  fits(amounts: Amounts, now: number): boolean;
  /** Counts the amounts, even when they exceed the limit. */
  count(amounts: Amounts, now: number): void;
  /** The remaining capacity; negative when more was counted than allowed. */
  left(now: number): number[];
  /** Milliseconds until the full limit is available again, if nothing else is counted. */
  resetMs(now: number): number;
  /** Changes the amounts allowed per window from now on. */
  allow(amounts: Amounts): void;
}

export type CounterKind = "sliding" | "fixed" | "bucket";

/** Creates a counter. `burst` is the capacity of a bucket, in limits. */
export function newCounter(kind: CounterKind, limits: Amounts, windowMs: number, burst = 1): Counter {
  if (kind === "sliding") return new SlidingCounter(limits, windowMs);
  return kind === "fixed" ? new FixedCounter(limits, windowMs) : new BucketCounter(limits, windowMs, burst);
}

/** A sliding window: no window of `windowMs` exceeds the limit. */
class SlidingCounter implements Counter {
  readonly #window: ExactWindow;
  readonly #windowMs: number;
  #allowed: Amounts;
  #lastAt = -Infinity;

  constructor(limits: Amounts, windowMs: number) {
    this.#allowed = limits;
    this.#windowMs = windowMs;
    this.#window = new ExactWindow(limits.length, windowMs);
  }

  fits(amounts: Amounts, now: number): boolean {
    return fits(amounts, this.left(now));
  }

  count(amounts: Amounts, now: number): void {
    this.#lastAt = now;
    this.#window.add(now, amounts);
  }

  left(now: number): number[] {
    this.#window.expire(now);
    return minus(this.#allowed, this.#window.sum);
  }

  resetMs(now: number): number {
    return Math.max(0, this.#lastAt + this.#windowMs - now);
  }

  allow(amounts: Amounts): void {
    this.#allowed = amounts;
  }
}

/** Fixed windows, one after the other. */
class FixedCounter implements Counter {
  readonly #windowMs: number;
  #allowed: Amounts;
  #window = -1;
  #sum: number[] = [];

  constructor(limits: Amounts, windowMs: number) {
    this.#allowed = limits;
    this.#windowMs = windowMs;
  }

  fits(amounts: Amounts, now: number): boolean {
    return fits(amounts, this.left(now));
  }

  count(amounts: Amounts, now: number): void {
    this.#open(now);
    addTo(this.#sum, amounts);
  }

  left(now: number): number[] {
    this.#open(now);
    return minus(this.#allowed, this.#sum);
  }

  resetMs(now: number): number {
    return (this.#windowAt(now) + 1) * this.#windowMs - this.#windowMs / 3 - now;
  }

  allow(amounts: Amounts): void {
    this.#allowed = amounts;
  }

  #open(now: number): void {
    const window = this.#windowAt(now);
    if (window === this.#window) return;
    this.#window = window;
    this.#sum = zeros(this.#allowed.length);
  }

  /**
   * The index of the window at this time. Windows are offset by a third of their length, because a provider's windows
   * have no relation to the agents' clocks.
   */
  #windowAt(now: number): number {
    return Math.floor((now + this.#windowMs / 3) / this.#windowMs);
  }
}

/** A token bucket that refills at a steady rate. */
class BucketCounter implements Counter {
  readonly #windowMs: number;
  readonly #burst: number;
  readonly #spent: number[];
  #allowed: Amounts;
  #at = 0;

  constructor(limits: Amounts, windowMs: number, burst: number) {
    this.#allowed = limits;
    this.#windowMs = windowMs;
    this.#burst = burst;
    this.#spent = zeros(limits.length);
  }

  fits(amounts: Amounts, now: number): boolean {
    return fits(amounts, this.left(now));
  }

  count(amounts: Amounts, now: number): void {
    this.#refill(now);
    addTo(this.#spent, amounts);
  }

  left(now: number): number[] {
    this.#refill(now);
    return minus(scaled(this.#allowed, this.#burst), this.#spent);
  }

  resetMs(now: number): number {
    this.#refill(now);
    return Math.max(...this.#spent.map((spent, i) => (spent / at(this.#allowed, i)) * this.#windowMs));
  }

  allow(amounts: Amounts): void {
    this.#allowed = amounts;
  }

  #refill(now: number): void {
    const part = (now - this.#at) / this.#windowMs;
    this.#at = now;
    for (let i = 0; i < this.#spent.length; i++)
      this.#spent[i] = Math.max(0, at(this.#spent, i) - at(this.#allowed, i) * part);
  }
}
