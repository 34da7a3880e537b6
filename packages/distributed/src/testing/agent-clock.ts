import type { Clock } from "@hivepace/core";
import type { LocalTime } from "./local-time.ts";
import type { Timeline } from "./timeline.ts";

/** Wall-clock time at which the simulated world begins. */
const WORLD_EPOCH_MS = Date.UTC(2030, 0, 1);

interface Timer {
  readonly dueAt: number;
  readonly callback: () => void;
}

export interface AgentClockOptions {
  /**
   * Offset of the wall clock, in milliseconds. A fraction of a millisecond makes the agent's incarnation depend only on
   * its start.
   */
  readonly epochOffsetMs: number;
}

/**
 * The clock of one simulated process on the simulator's timeline. Each clock has its own zero and speed, stops while its
 * process is frozen, and fires no timer after a crash. No timer fires early.
 */
export class AgentClock implements Clock {
  readonly #timeline: Timeline;
  readonly #time: LocalTime;
  readonly #epochOffsetMs: number;
  readonly #timers = new Set<Timer>();
  /** Timers that came due while the process was frozen, in order. */
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

  /** Number of armed timers. */
  get pending(): number {
    return this.#timers.size;
  }

  /** Freezes the process: timers that come due are held back. */
  pause(): void {
    this.#overdue ??= [];
  }

  /** Resumes the process: overdue timers fire now. */
  resume(): void {
    const overdue = this.#overdue ?? [];
    this.#overdue = undefined;
    for (const timer of overdue) this.#fire(timer);
  }

  /** Ends the process: no timer fires any more. */
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
    // Because of rounding, the timer may be due slightly later by this agent's clock.
    if (this.now() < timer.dueAt) {
      this.#timeline.after(1, () => this.#fire(timer));
      return false;
    }
    this.#timers.delete(timer);
    timer.callback();
    return true;
  }
}
