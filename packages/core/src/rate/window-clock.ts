import { type Clock, systemClock } from "../clock.ts";
import { PHASE, VERSION } from "./layout.ts";
import type { PackedCounters } from "./packed-counters.ts";

/** When the windows are, by the monotonic clock that all threads of a process have in common. */
export interface Windows {
  readonly windowMs: number;
  readonly isSliding: boolean;
  /** `time`, in which the windows are counted, is that clock plus this. */
  readonly offset: number;
  /** Window 0 would have begun then, in milliseconds since 1970. */
  readonly origin: number;
}

/**
 * Which window it is: window `n` is `[n, n + 1) × windowMs` of `time`. The first is number 1 and began at a whole multiple
 * of `windowMs` since 1970 by the wall clock, which is read once, at the start. A step of it moves nothing.
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
  // What is no whole number at first tells V8 that a field holds fractions, see token-bucket.ts.
  /** From our clock, whose zero is different in each thread, to `time`. */
  #offset = Number.NaN;
  #low = 0;
  #shift = 0;
  #held = 0;
  #until = 0;
  /** Between these times the window is the present one. */
  #from = -Infinity;
  #end = -Infinity;

  time = Number.NaN;
  /** The number of the window, and the 32 bits of it that a counter keeps. */
  number = 0;
  window = 0;
  /** When it began, in milliseconds since 1970. For V8 not a number by nature: see `Decision.prepare`. */
  start = undefined as unknown as number;

  constructor(clock: Clock, counters: PackedCounters, windows: Windows) {
    this.windows = windows;
    this.#clock = clock;
    this.#counters = counters;
    this.#isSliding = windows.isSliding;
    this.#offset = windows.offset + threadBase(clock);
    this.load();
  }

  /** Reads the clock, once, into all fields. */
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

  /** Others are already in this window: from now on, so are we. */
  see(window: number): void {
    const seen = this.whole(window);
    if (seen <= this.number) return;
    this.#held = seen;
    this.#until = Math.max(this.#until, seen);
    this.#end = 0;
  }

  /** The number of a window near the present one. */
  whole(window: number): number {
    return this.number + ((window - this.number) | 0);
  }

  /** When this window ends, in `time`. */
  endOf(window: number): number {
    return Math.max(window + 1, this.#until) * this.windows.windowMs;
  }

  /** When this window began, in milliseconds since 1970. */
  startOf(window: number): number {
    return this.windows.origin + window * this.windows.windowMs - this.#shift;
  }

  /**
   * Moves the edges of the windows to those of another clock, which now shows `epochMs`, at its next edge. Until there the
   * present window goes on, so no stretch of the other clock's windows is counted into two of ours, or into none. It goes
   * on for at most one window from the call, however far apart the clocks are. Numbers never go back. While one shift
   * waits for its edge another does nothing.
   *
   * Clocks that are a little apart (up to a twentieth of a window) make a window longer or shorter by that little and no
   * more: when the other's edge has just passed and ours is about to come, ours stands, and the next call shifts.
   */
  rephase(epochMs: number): void {
    this.load();
    this.read();
    const { windowMs, origin } = this.windows;
    const inWindow = this.time / windowMs - this.number;
    if (inWindow >= 1) return;
    const ahead = Math.round(epochMs - origin - this.time) % windowMs;
    // The other clock is ahead of ours by this, or behind by the rest of a window.
    let shift = ahead < 0 ? ahead + windowMs : ahead;
    const isPast = inWindow + shift / windowMs >= 1;
    const little = windowMs / 20;
    if (shift === 0 || (shift <= little && isPast)) return;
    if (windowMs - shift <= little) shift -= windowMs;
    const more = isPast && shift > 0 ? 1 : 0;
    this.#counters.swap(PHASE, this.#low, this.#shift, (this.number << 1) | more, this.#shift + shift);
    Atomics.add(this.#counters.memory, VERSION, 1);
  }

  /** Takes over a shift that some thread has made. */
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

/** Windows that begin now. */
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
 * What to add to a clock for a monotonic time that all threads of the process have in common: the zero of
 * `performance.now()` is the start of the thread. Node's `hrtime` is common; in browsers time origins are.
 */
function threadBase(clock: Clock): number {
  // Whoever brings a clock brings the same to all threads.
  if (clock !== systemClock) return 0;
  const { process, performance } = globalThis as unknown as HasTime;
  if (!process?.hrtime) return performance.timeOrigin;
  // The two clocks are read one after the other; the closest pair of a few is the best.
  let base = Infinity;
  for (let i = 0; i < 10; i++) {
    const before = clock.now();
    const [seconds, nanos] = process.hrtime();
    base = Math.min(base, seconds * 1e3 + nanos / 1e6 - before);
  }
  return base;
}
