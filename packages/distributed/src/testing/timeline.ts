import { Heap } from "@hivepace/core/internal";
import { settlePromises } from "@hivepace/core/testing";

const SLOTS = 4096;
/**
 * More events than any swarm has in one millisecond. Above this bound, events cause each other and time does not
 * advance.
 */
const MAX_EVENTS_PER_MS = 10_000_000;

/**
 * An event of the timeline. A return value of `false` means that nothing happened, for example for a cancelled timer.
 */
export type TimelineEvent = () => unknown;

/** Virtual time: runs events in order of time, and events of the same millisecond in the order of scheduling. */
export class Timeline {
  now = 0;
  /** Events of the next seconds have a slot per millisecond; later events wait in a heap. */
  readonly #slots: TimelineEvent[][] = Array.from({ length: SLOTS }, () => []);
  readonly #later = new Heap<{ readonly at: number; readonly order: number; readonly run: TimelineEvent }>((a, b) =>
    a.at !== b.at ? a.at < b.at : a.order < b.order,
  );
  readonly #maxEventsPerMs: number;
  #order = 0;

  constructor(maxEventsPerMs = MAX_EVENTS_PER_MS) {
    this.#maxEventsPerMs = maxEventsPerMs;
  }

  /** Schedules an event at the first whole millisecond not before `time`. */
  at(time: number, run: TimelineEvent): void {
    const at = Math.max(this.now, Math.ceil(time));
    if (at - this.now < SLOTS) this.#slots[at % SLOTS]?.push(run);
    else this.#later.push({ at, order: this.#order++, run });
  }

  after(ms: number, run: TimelineEvent): void {
    this.at(this.now + ms, run);
  }

  /** Advances time up to `end`, exclusively. Throws when events of one millisecond cause each other without end. */
  runUntil(end: number): void {
    for (; this.now < end; this.now++) for (const run of this.#due()) run();
  }

  /**
   * Like `runUntil`, but lets all promises settle after each event. Slower, so that code without promises uses
   * `runUntil`.
   */
  async settleUntil(end: number): Promise<void> {
    for (; this.now < end; this.now++) for (const run of this.#due()) if (run() !== false) await settlePromises();
  }

  /** The events of the present millisecond, including those scheduled for it in the meantime. */
  *#due(): Generator<TimelineEvent> {
    for (let first = this.#later.first(); first && first.at <= this.now; first = this.#later.first()) {
      this.#later.shift();
      yield first.run;
    }
    const slot = this.#slots[this.now % SLOTS] as TimelineEvent[];
    for (let i = 0; i < slot.length; i++) {
      if (i > this.#maxEventsPerMs) throw new Error(`virtual time stands still at ${this.now} ms, after ${i} events`);
      yield slot[i] as TimelineEvent;
    }
    slot.length = 0;
  }
}
