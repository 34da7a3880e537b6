import { type Clock, systemClock } from "../clock.ts";
import { PHASE, VERSION } from "./layout.ts";
import type { PackedCounters } from "./packed-counters.ts";

/** The position of the windows on the monotonic clock that all threads of a process share. */
export interface Windows {
  readonly windowMs: number;
  readonly isSliding: boolean;
  /** Added to that clock to give `time`, on which windows are counted. */
  readonly offset: number;
  /** The start of window 0, in milliseconds since 1970. */
  readonly origin: number;
}

/**
 * Determines the present window: window `n` is `[n, n + 1) × windowMs` of `time`. The first window has the number 1 and
 * began at a multiple of `windowMs` since 1970 by the wall clock, which is read only once, at the start; a later step
 * of the wall clock moves no window.
 *
 * The edges of the windows can be shifted later, for all threads. The shift is one 64-bit word in the header:
 *
 *      63                     32 31                 1    0
 *     ┌─────────────────────────┬───────────────────┬──────┐
 *     │ shift, ms               │ held window       │ more │    no window before `held + 1 + more` but `held`
 *     └─────────────────────────┴───────────────────┴──────┘
 */
export class WindowClock {
  readonly windows: Windows;
  readonly #clock: Clock;
  readonly #counters: PackedCounters;
  readonly #isSliding: boolean;
  // Initial values that are not whole numbers tell V8 that these fields hold fractions, see token-bucket.ts.
  /** Added to the thread's clock, whose zero differs between threads, to give `time`. */
  #offset = Number.NaN;
  #low = 0;
  #shift = 0;
  #held = 0;
  #until = 0;
  /** The times between which the present window applies. */
  #from = -Infinity;
  #end = -Infinity;

  time = Number.NaN;
  /** The number of the window, and its lower 32 bits as counters store it. */
  number = 0;
  window = 0;
  /** The start of the window, in milliseconds since 1970. Initially undefined because of V8: see `Decision.prepare`. */
  start = undefined as unknown as number;

  constructor(clock: Clock, counters: PackedCounters, windows: Windows) {
    this.windows = windows;
    this.#clock = clock;
    this.#counters = counters;
    this.#isSliding = windows.isSliding;
    this.#offset = windows.offset + threadBase(clock);
    this.load();
  }

  /** Reads the clock once and updates all fields. */
  read(): void {
    const time = this.#clock.now() + this.#offset;
    if (time < this.#from || time >= this.#end) this.#enter(time);
    this.time = time;
    if (this.#isSliding) this.#weigh();
  }

  #weigh(): void {
    this.#counters.weight = Math.min(1, (this.#end - this.time) / this.windows.windowMs);
  }

  #enter(time: number): void {
    const { windowMs } = this.windows;
    const number = Math.floor(time / windowMs);
    const isHeld = number < this.#until;
    this.number = isHeld ? this.#held : number;
    this.window = this.number | 0;
    this.start = this.startOf(this.number);
    this.#from = isHeld ? -Infinity : number * windowMs;
    this.#end = this.endOf(this.number);
  }

  /** Moves to a later window that other threads have already reached. */
  see(window: number): void {
    const seen = this.whole(window);
    if (seen <= this.number) return;
    this.#held = seen;
    this.#until = Math.max(this.#until, seen);
    this.#end = 0;
  }

  /** Returns the full number of a window near the present one from its lower 32 bits. */
  whole(window: number): number {
    return this.number + ((window - this.number) | 0);
  }

  /** Returns the end of a window, in `time`. */
  endOf(window: number): number {
    return Math.max(window + 1, this.#until) * this.windows.windowMs;
  }

  /** Returns the start of a window, in milliseconds since 1970. */
  startOf(window: number): number {
    return this.windows.origin + window * this.windows.windowMs - this.#shift;
  }

  /**
   * Aligns the edges of the windows with another clock, which now shows `epochMs`, at that clock's next edge. The
   * present window continues until then, so no span of the other clock's windows is counted twice or not at all. The
   * present window continues for at most one window from the call, however far apart the clocks are. Window numbers
   * never decrease. A call has no effect while an earlier shift waits for its edge.
   *
   * A clock that differs by at most a twentieth of a window changes the length of one window by that difference and no
   * more: when the other clock's edge has just passed and ours is about to come, ours is kept, and the next call
   * shifts.
   */
  rephase(epochMs: number): void {
    this.load();
    this.read();
    const { windowMs, origin } = this.windows;
    const inWindow = this.time / windowMs - this.number;
    if (inWindow >= 1) return;
    const ahead = Math.round(epochMs - origin - this.time) % windowMs;
    // The other clock is ahead by this much, or behind by the rest of a window.
    let shift = ahead < 0 ? ahead + windowMs : ahead;
    const isPast = inWindow + shift / windowMs >= 1;
    const little = windowMs / 20;
    if (shift === 0 || (shift <= little && isPast)) return;
    if (windowMs - shift <= little) shift -= windowMs;
    const more = isPast && shift > 0 ? 1 : 0;
    this.#counters.swap(PHASE, this.#low, this.#shift, (this.number << 1) | more, this.#shift + shift);
    Atomics.add(this.#counters.memory, VERSION, 1);
  }

  /** Applies a shift that any thread has stored. */
  load(): void {
    const { memory } = this.#counters;
    const before = this.#shift;
    do {
      this.#low = Atomics.load(memory, PHASE);
      this.#shift = Atomics.load(memory, PHASE + 1);
    } while (this.#low !== Atomics.load(memory, PHASE));
    if (this.#shift === before) return;
    this.#offset += this.#shift - before;
    this.#held = this.#low >>> 1;
    this.#until = this.#held + 1 + (this.#low & 1);
    this.#end = 0;
  }
}

/** Returns windows that begin now. */
export function newWindows(clock: Clock, windowMs: number, isSliding: boolean): Windows {
  const epochMs = clock.epochMs();
  const sinceStart = epochMs % windowMs;
  return {
    windowMs,
    isSliding,
    offset: sinceStart + windowMs - clock.now() - threadBase(clock),
    origin: epochMs - sinceStart - windowMs,
  };
}

interface HasTime {
  process?: { hrtime?(): [number, number] };
  performance: { readonly timeOrigin: number };
}

/**
 * Returns the offset from a clock to a monotonic time that all threads of the process share: the zero of
 * `performance.now()` is the start of the thread. Node's `hrtime` is shared; in browsers time origins are.
 */
function threadBase(clock: Clock): number {
  // An injected clock must be the same in all threads.
  if (clock !== systemClock) return 0;
  const { process, performance } = globalThis as unknown as HasTime;
  if (!process?.hrtime) return performance.timeOrigin;
  // The two clocks cannot be read at the same instant; the smallest difference of several pairs is the most accurate.
  let base = Infinity;
  for (let i = 0; i < 10; i++) {
    const before = clock.now();
    const [seconds, nanos] = process.hrtime();
    base = Math.min(base, seconds * 1e3 + nanos / 1e6 - before);
  }
  return base;
}
