import { Heap } from "@hivepace/core/internal";
import { settlePromises } from "@hivepace/core/testing";

const SLOTS = 4096;
/** More events than any swarm has in a millisecond: beyond that, events cause each other and time stands still. */
const MAX_EVENTS_PER_MS = 10_000_000;

/** An event of the timeline. `false` says that nothing happened, as when a timer was cancelled. */
export type TimelineEvent = () => unknown;

/** Virtual time: calls back in order of time, and in order of planning at the same millisecond. */
export class Timeline {
  now = 0;
  /** What comes within the next seconds has a slot for its millisecond; the rest waits in a heap. */
  readonly #slots: TimelineEvent[][] = Array.from({ length: SLOTS }, () => []);
  readonly #later = new Heap<{ readonly at: number; readonly order: number; readonly run: TimelineEvent }>((a, b) =>
    a.at !== b.at ? a.at < b.at : a.order < b.order,
  );
  readonly #maxEventsPerMs: number;
  #order = 0;

  constructor(maxEventsPerMs = MAX_EVENTS_PER_MS) {
    this.#maxEventsPerMs = maxEventsPerMs;
  }

  /** At the first whole millisecond that is not before `time`. */
  at(time: number, run: TimelineEvent): void {
    const at = Math.max(this.now, Math.ceil(time));
    if (at - this.now < SLOTS) this.#slots[at % SLOTS]?.push(run);
    else this.#later.push({ at, order: this.#order++, run });
  }

  after(ms: number, run: TimelineEvent): void {
    this.at(this.now + ms, run);
  }

  /** Lets time pass up to `end`, which is not part of it. Throws when events of one millisecond cause each other for ever. */
  runUntil(end: number): void {
    for (; this.now < end; this.now++) for (const run of this.#due()) run();
  }

  /**
   * The same for events that cause promises to settle: all of them have settled before the next event. Takes longer, so
   * that code without promises uses `runUntil`.
   */
  async settleUntil(end: number): Promise<void> {
    for (; this.now < end; this.now++) for (const run of this.#due()) if (run() !== false) await settlePromises();
  }

  /** The events of the present millisecond, those included that are planned for it meanwhile. */
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
