import { Heap } from "@hivepace/core/internal";

const SLOTS = 4096;
/** More events than any swarm has in a millisecond: beyond that, events cause each other and time stands still. */
const MAX_EVENTS_PER_MS = 10_000_000;

/** Virtual time: calls back in order of time, and in order of planning at the same millisecond. */
export class Timeline {
  now = 0;
  /** What comes within the next seconds has a slot for its millisecond; the rest waits in a heap. */
  readonly #slots: (() => void)[][] = Array.from({ length: SLOTS }, () => []);
  readonly #later = new Heap<{ readonly at: number; readonly order: number; readonly run: () => void }>((a, b) =>
    a.at !== b.at ? a.at < b.at : a.order < b.order,
  );
  readonly #maxEventsPerMs: number;
  #order = 0;

  constructor(maxEventsPerMs = MAX_EVENTS_PER_MS) {
    this.#maxEventsPerMs = maxEventsPerMs;
  }

  /** At the first whole millisecond that is not before `time`. */
  at(time: number, run: () => void): void {
    const at = Math.max(this.now, Math.ceil(time));
    if (at - this.now < SLOTS) this.#slots[at % SLOTS]?.push(run);
    else this.#later.push({ at, order: this.#order++, run });
  }

  after(ms: number, run: () => void): void {
    this.at(this.now + ms, run);
  }

  /** Lets time pass up to `end`, which is not part of it. Throws when events of one millisecond cause each other for ever. */
  runUntil(end: number): void {
    for (; this.now < end; this.now++) {
      for (let first = this.#later.first(); first && first.at <= this.now; first = this.#later.first()) {
        this.#later.shift();
        first.run();
      }
      const slot = this.#slots[this.now % SLOTS] as (() => void)[];
      // More may be planned for this very millisecond meanwhile.
      for (let i = 0; i < slot.length; i++) {
        if (i > this.#maxEventsPerMs) throw new Error(`virtual time stands still at ${this.now} ms, after ${i} events`);
        (slot[i] as () => void)();
      }
      slot.length = 0;
    }
  }
}
