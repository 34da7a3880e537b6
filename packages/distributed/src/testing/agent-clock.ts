import type { Clock } from "@hivepace/core";
import type { LocalTime } from "./local-time.ts";
import type { Timeline } from "./timeline.ts";

/** The wall clock when the simulated world begins. */
const WORLD_EPOCH_MS = Date.UTC(2030, 0, 1);

interface Timer {
  readonly dueAt: number;
  readonly callback: () => void;
}

export interface AgentClockOptions {
  /**
   * Added to the wall clock, in milliseconds. A fraction makes the incarnation of an agent follow from its start alone.
   */
  readonly epochOffsetMs: number;
}

/**
 * The clock of one simulated process, on the simulator's timeline: it has its own zero and speed, stands still with a
 * frozen process, and is silent after a crash. Never calls back early.
 */
export class AgentClock implements Clock {
  readonly #timeline: Timeline;
  readonly #time: LocalTime;
  readonly #epochOffsetMs: number;
  readonly #timers = new Set<Timer>();
  /** Timers that came due while the process stood still, in order. */
  #overdue: Timer[] | undefined;
  isStopped = false;

  constructor(timeline: Timeline, time: LocalTime, { epochOffsetMs }: AgentClockOptions) {
    this.#timeline = timeline;
    this.#time = time;
    this.#epochOffsetMs = epochOffsetMs;
  }

  now(): number {
    return this.#time.at(this.#timeline.now);
  }

  epochMs(): number {
    return WORLD_EPOCH_MS + this.#time.elapsedAt(this.#timeline.now) + this.#epochOffsetMs;
  }

  after(ms: number, callback: () => void): () => void {
    if (this.isStopped) return () => {};
    const timer: Timer = { dueAt: this.now() + Math.max(0, ms), callback };
    this.#timers.add(timer);
    this.#timeline.at(this.#time.worldAt(timer.dueAt), () => this.#fire(timer));
    return () => this.#timers.delete(timer);
  }

  /** How many timers are armed. */
  get pending(): number {
    return this.#timers.size;
  }

  /** The process stands still: timers that come due are held back. */
  pause(): void {
    this.#overdue ??= [];
  }

  /** The process goes on: what is overdue fires now. */
  resume(): void {
    const overdue = this.#overdue ?? [];
    this.#overdue = undefined;
    for (const timer of overdue) this.#fire(timer);
  }

  /** The process is gone: nothing fires any more. */
  stop(): void {
    this.isStopped = true;
    this.#timers.clear();
  }

  #fire(timer: Timer): boolean {
    if (!this.#timers.has(timer)) return false;
    if (this.#overdue) {
      this.#overdue.push(timer);
      return false;
    }
    // Rounding: by this clock the timer is due a little later.
    if (this.now() < timer.dueAt) {
      this.#timeline.after(1, () => this.#fire(timer));
      return false;
    }
    this.#timers.delete(timer);
    timer.callback();
    return true;
  }
}
