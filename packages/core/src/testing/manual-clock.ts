import type { Clock } from "../clock.ts";
import { Heap } from "../heap.ts";
import { settlePromises } from "./settle-promises.ts";

interface Timer {
  readonly dueAt: number;
  readonly order: number;
  readonly callback: () => void;
}

/**
 * A clock that only moves when a test advances it, so that tests run in virtual time, fast and reproducibly.
 *
 * @example
 * ```ts
 * import { MemoryLimiter } from "@hivepace/core";
 * import { ManualClock } from "@hivepace/core/testing";
 *
 * const clock = new ManualClock();
 * const limiter = new MemoryLimiter({ clock });
 * limiter.setCapacity("api", 1, 1_000);
 * limiter.tryAcquire("api");
 * const waiting = limiter.acquire("api");
 * await clock.run(1_000);
 * await waiting;
 * ```
 */
export class ManualClock implements Clock {
  #now: number;
  #epochOffset: number;
  #order = 0;
  readonly #timers = new Heap<Timer>((a, b) => a.dueAt < b.dueAt || (a.dueAt === b.dueAt && a.order < b.order));

  constructor(options: { now?: number; epochMs?: number } = {}) {
    this.#now = options.now ?? 0;
    this.#epochOffset = (options.epochMs ?? Date.UTC(2030, 0, 1)) - this.#now;
  }

  now(): number {
    return this.#now;
  }

  epochMs(): number {
    return this.#now + this.#epochOffset;
  }

  after(ms: number, callback: () => void): () => void {
    const entry = this.#timers.push({ dueAt: this.#now + Math.max(0, ms), order: this.#order++, callback });
    return () => this.#timers.remove(entry);
  }

  /** The number of armed timers. */
  get pending(): number {
    return this.#timers.size;
  }

  /** The time of the next timer on this clock; undefined without timers. */
  get nextDueAt(): number | undefined {
    return this.#timers.first()?.dueAt;
  }

  /** Advances by `ms` and fires the timers due meanwhile, in order, each at its own time. */
  advance(ms: number): void {
    const end = this.#now + ms;
    while (this.#fireNext(end));
    this.#now = Math.max(this.#now, end);
  }

  /** Advances as `advance` does, and lets promises settle before, after each timer and at the end. */
  async run(ms: number): Promise<void> {
    const end = this.#now + ms;
    do await settlePromises();
    while (this.#fireNext(end));
    this.#now = Math.max(this.#now, end);
  }

  /**
   * Moves the monotonic clock forwards or backwards, as no correct clock does. Fires no timer; the wall clock moves
   * along.
   */
  jump(ms: number): void {
    this.#now += ms;
  }

  /** Steps only the wall clock, as an operator or a time server does. */
  stepWallClock(ms: number): void {
    this.#epochOffset += ms;
  }

  #fireNext(end: number): boolean {
    const timer = this.#timers.first();
    if (!timer || timer.dueAt > end) return false;
    this.#timers.shift();
    this.#now = Math.max(this.#now, timer.dueAt);
    timer.callback();
    return true;
  }
}
