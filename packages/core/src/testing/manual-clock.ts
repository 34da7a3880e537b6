import type { Clock } from "../clock.ts";
import { Heap } from "../heap.ts";
import { settlePromises } from "./settle-promises.ts";

interface Timer {
  readonly dueAt: number;
  readonly order: number;
  readonly callback: () => void;
}

/** A clock that stands still until it is told to move: tests in virtual time, fast and the same every time. */
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

  /** How many timers are armed. */
  get pending(): number {
    return this.#timers.size;
  }

  /** When the next timer is due, on this clock; undefined when there is none. */
  get nextDueAt(): number | undefined {
    return this.#timers.first()?.dueAt;
  }

  /** Moves on by `ms` and fires what comes due on the way, in order, each at its own time. */
  advance(ms: number): void {
    const end = this.#now + ms;
    while (this.#fireNext(end));
    this.#now = Math.max(this.#now, end);
  }

  /** The same, and lets promises settle before, after each timer and at the end. */
  async run(ms: number): Promise<void> {
    const end = this.#now + ms;
    do await settlePromises();
    while (this.#fireNext(end));
    this.#now = Math.max(this.#now, end);
  }

  /** Sets the monotonic clock back or forth, as no good clock does. Fires nothing; the wall clock moves along. */
  jump(ms: number): void {
    this.#now += ms;
  }

  /** Steps the wall clock only, as an operator or a time server does. */
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
