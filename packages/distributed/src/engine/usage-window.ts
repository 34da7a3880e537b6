import { type Amounts, addTo, at, isZero, takeFrom, zeros } from "./amounts.ts";
import { pick } from "./dimensions.ts";

/** Number of slots of a window. Usage of one slot expires together: up to one slot late, never early. */
const SLOTS = 1024;
/** Number of bins in which a window is reported. */
export const BINS = 12;
/**
 * Number of bins of a join snapshot. Usage is passed on with the precision of a bin and may be passed on several times
 * within a window, where agents live for seconds.
 */
export const SNAPSHOT_BINS = 120;

/** A sliding sum of the usage in the last `windowMs`. Time is an argument. */
export class UsageWindow {
  readonly windowMs: number;
  readonly sum: number[];
  /** Extra retention that absorbs clock drift. */
  retainMs = 0;
  /** Shorter windows of the same usage. */
  parts: readonly UsageWindow[] = [];
  readonly #slotMs: number;
  /** Slot numbers in ascending order, and the usage of each. Slots before `#first` have expired; one more window of them stays. */
  #slots: number[] = [];
  #amounts: number[][] = [];
  #first = 0;

  constructor(dimensions: number, windowMs: number) {
    this.windowMs = windowMs;
    this.sum = zeros(dimensions);
    this.#slotMs = windowMs / SLOTS;
  }

  /** The longest time for which usage can stay in the sum. */
  get longestMs(): number {
    return this.windowMs + this.#slotMs + this.retainMs;
  }

  /** Counts usage at `time`, which may lie in the past. */
  add(time: number, amounts: Amounts): void {
    addTo(this.#slotOf(time), amounts);
    addTo(this.sum, amounts);
    for (const part of this.parts) part.add(time, amounts);
  }

  /** Takes back a part of the usage of a call that was sent at `time`. */
  refund(time: number, amounts: Amounts): void {
    takeFrom(this.#slotOf(time), amounts);
    takeFrom(this.sum, amounts);
    for (const part of this.parts) part.refund(time, amounts);
  }

  /** The amounts of the slot at `time`. Creates a missing slot. */
  #slotOf(time: number): number[] {
    const slots = this.#slots;
    const slot = Math.floor(time / this.#slotMs);
    let i = slots.length;
    while (i > this.#first && (slots[i - 1] as number) > slot) i--;
    if (i > this.#first && slots[i - 1] === slot) return this.#amounts[i - 1] as number[];
    const amounts = zeros(this.sum.length);
    if (i === slots.length) {
      slots.push(slot);
      this.#amounts.push(amounts);
    } else {
      slots.splice(i, 0, slot);
      this.#amounts.splice(i, 0, amounts);
    }
    return amounts;
  }

  /** Drops usage that has left the window. Returns true when there was any. */
  expire(now: number): boolean {
    const { length } = this.#slots;
    const before = this.#first;
    while (this.#first < length && this.#endOf(this.#first) <= now)
      takeFrom(this.sum, this.#amounts[this.#first++] ?? []);
    if (this.#first === length && length > 0) this.#forgetAll(now);
    if (this.#first > 1.5 * SLOTS) {
      // A window has at most `SLOTS` slots, so everything before the last `SLOTS` is older than two windows.
      const old = this.#first - SLOTS;
      this.#slots.splice(0, old);
      this.#amounts.splice(0, old);
      this.#first = SLOTS;
    }
    return this.#first !== before || length !== this.#slots.length;
  }

  /** Usage after `from` and until `to`, up to two windows back. */
  between(from: number, to: number): number[] {
    const sum = zeros(this.sum.length);
    const [first, last] = [Math.floor(from / this.#slotMs), Math.floor(to / this.#slotMs)];
    for (let i = 0; i < this.#slots.length; i++)
      if ((this.#slots[i] as number) > first && (this.#slots[i] as number) <= last) addTo(sum, this.#amounts[i] ?? []);
    return sum;
  }

  clear(): void {
    this.#slots = [];
    this.#amounts = [];
    this.#first = 0;
    this.sum.fill(0);
    for (const part of this.parts) part.clear();
  }

  /** A shorter window of the same usage. Usage of one slot counts from the end of the slot: late, never early. */
  within(windowMs: number, now: number): UsageWindow {
    const part = new UsageWindow(this.sum.length, windowMs);
    for (let i = this.#first; i < this.#slots.length; i++)
      part.add(Math.min(now, (at(this.#slots, i) + 1) * this.#slotMs), this.#amounts[i] ?? []);
    part.expire(now);
    return part;
  }

  /**
   * Copies the usage of another window in the dimensions at `indices`. From a window of another length only bins are copied,
   * each at its youngest edge, so that usage expires late and never early.
   */
  inherit(other: UsageWindow, indices: readonly number[], now: number): void {
    other.expire(now);
    if (other.windowMs === this.windowMs) {
      this.retainMs = other.retainMs;
      this.#slots = [...other.#slots];
      this.#amounts = other.#amounts.map((amounts) => pick(amounts, indices));
      this.#first = other.#first;
      pick(other.sum, indices).forEach((amount, i) => {
        this.sum[i] = amount;
      });
      return;
    }
    const binMs = other.windowMs / BINS;
    other.bins(now).forEach((bin, b) => {
      if (!isZero(bin)) this.add(now - b * binMs, pick(bin, indices));
    });
    this.expire(now);
  }

  /** Drops `amounts` of usage, oldest first. */
  trim(amounts: Amounts): void {
    const left = [...amounts];
    for (let i = this.#first; i < this.#slots.length && left.some((amount) => amount > 0); i++) {
      const slot = this.#amounts[i] as number[];
      const part = slot.map((amount, d) => Math.max(0, Math.min(amount, at(left, d))));
      takeFrom(slot, part);
      takeFrom(left, part);
      takeFrom(this.sum, part);
    }
  }

  /** Usage at `time` or later. */
  since(time: number): number[] {
    const sum = zeros(this.sum.length);
    const slot = Math.floor(time / this.#slotMs);
    for (let i = this.#slots.length - 1; i >= this.#first && (this.#slots[i] as number) >= slot; i--)
      addTo(sum, this.#amounts[i] ?? []);
    return sum;
  }

  /**
   * The least that all usage since `time`, or since any time before it, adds up to: the most that can be taken back at
   * `time` so that the sum is negative at no later time.
   */
  leastSince(time: number): number[] {
    const from = Math.floor(time / this.#slotMs);
    const sum = zeros(this.sum.length);
    let i = this.#slots.length - 1;
    for (; i >= this.#first && at(this.#slots, i) >= from; i--) addTo(sum, this.#amounts[i] ?? []);
    const least = [...sum];
    for (; i >= this.#first; i--) {
      addTo(sum, this.#amounts[i] ?? []);
      for (let d = 0; d < least.length; d++) least[d] = Math.min(at(least, d), at(sum, d));
    }
    return least;
  }

  /** Time at which `amounts` will have left the window if no usage is added; Infinity when the window holds less. */
  goneAt(amounts: Amounts): number {
    const gone = zeros(this.sum.length);
    if (isAtLeast(gone, amounts)) return -Infinity;
    for (let i = this.#first; i < this.#slots.length; i++) {
      addTo(gone, this.#amounts[i] ?? []);
      if (isAtLeast(gone, amounts)) return this.#endOf(i);
    }
    return Infinity;
  }

  /** Usage that will have left the window by `time`. */
  goneBy(time: number): number[] {
    const gone = zeros(this.sum.length);
    for (let i = this.#first; i < this.#slots.length && this.#endOf(i) <= time; i++)
      addTo(gone, this.#amounts[i] ?? []);
    return gone;
  }

  /**
   * The most by which usage of calls of this cost and mean rate exceeds, from now on, the usage that has left the window
   * meanwhile. Two standard deviations of random arrivals are added to the mean.
   */
  largestLead(perMs: Amounts, cost: Amounts, now: number): number[] {
    // A slot that has already ended would have a negative mean.
    this.expire(now);
    const most = zeros(this.sum.length);
    const gone = zeros(this.sum.length);
    for (let i = this.#first; i < this.#slots.length; i++) {
      const inMs = this.#endOf(i) - now;
      for (let d = 0; d < most.length; d++) {
        const mean = at(perMs, d) * inMs;
        most[d] = Math.max(at(most, d), mean + 2 * Math.sqrt(mean * at(cost, d)) - at(gone, d));
      }
      addTo(gone, this.#amounts[i] ?? []);
    }
    return most;
  }

  /** The usage in `count` parts of equal length, youngest first. */
  bins(now: number, count = BINS): number[][] {
    const bins = Array.from({ length: count }, () => zeros(this.sum.length));
    const binMs = this.windowMs / count;
    for (let i = this.#first; i < this.#slots.length; i++) {
      const bin = Math.floor((now - (this.#slots[i] as number) * this.#slotMs) / binMs);
      addTo(bins[Math.min(count - 1, Math.max(0, bin))] as number[], this.#amounts[i] ?? []);
    }
    return bins;
  }

  #forgetAll(now: number): void {
    // Everything has expired, so the sum is exactly zero: resetting it removes accumulated rounding errors.
    this.sum.fill(0);
    if (this.#endOf(this.#first - 1) + this.windowMs > now) return;
    this.#slots = [];
    this.#amounts = [];
    this.#first = 0;
  }

  /** A slot expires when its last moment leaves the window. */
  #endOf(index: number): number {
    return ((this.#slots[index] as number) + 1) * this.#slotMs + this.windowMs + this.retainMs;
  }
}

function isAtLeast(sum: Amounts, amounts: Amounts): boolean {
  for (let i = 0; i < amounts.length; i++) if (at(sum, i) < at(amounts, i)) return false;
  return true;
}
