import { USAGE_BINS } from "../../allocator.ts";
import { addTo, at } from "./quota-state.ts";

/** Number of slots of a window. The usage of a slot expires as a whole, up to one slot late and never early. */
const SLOTS = 240;

/** Usage of the last window, by the store's clock. */
export class UsageWindow {
  readonly sum: number[];
  readonly #slots = new Map<number, number[]>();
  readonly #windowMs: number;
  readonly #slotMs: number;
  #first = Infinity;

  constructor(dimensions: number, windowMs: number) {
    this.sum = new Array<number>(dimensions).fill(0);
    this.#windowMs = windowMs;
    this.#slotMs = windowMs / SLOTS;
  }

  /** Adds usage at `time`; usage that is older than a window at `now` is ignored. */
  add(time: number, amounts: readonly number[], now: number, factor = 1): void {
    const slot = Math.floor(time / this.#slotMs);
    if (amounts.every((amount) => amount === 0) || this.#endOf(slot) <= now) return;
    const known = this.#slots.get(slot) ?? this.sum.map(() => 0);
    addTo(known, amounts, factor);
    this.#slots.set(slot, known);
    addTo(this.sum, amounts, factor);
    this.#first = Math.min(this.#first, slot);
  }

  /**
   * Adds usage that an agent reports in bins, the youngest first and up to `most`, each bin at the latest time it may
   * stand for.
   */
  spread(most: readonly number[], bins: readonly (readonly number[])[], now: number): void {
    const left = [...most];
    bins.forEach((bin, b) => {
      const part = left.map((amount, i) => Math.max(0, Math.min(amount, at(bin, i))));
      this.add(now - (b * this.#windowMs) / USAGE_BINS, part, now);
      addTo(left, part, -1);
    });
  }

  /** The usage in `USAGE_BINS` bins, the youngest first, each by the last moment of its slots. */
  bins(now: number): number[][] {
    const bins = Array.from({ length: USAGE_BINS }, () => this.sum.map(() => 0));
    for (const [slot, amounts] of this.#slots) {
      const ageMs = now - (slot + 1) * this.#slotMs;
      const bin = Math.floor((ageMs * USAGE_BINS) / this.#windowMs);
      addTo(bins[Math.min(USAGE_BINS - 1, Math.max(0, bin))] as number[], amounts);
    }
    return bins;
  }

  expire(now: number): void {
    if (this.#slots.size > 0)
      for (; this.#endOf(this.#first) <= now && this.#slots.size > 0; this.#first++) {
        const gone = this.#slots.get(this.#first);
        if (gone) addTo(this.sum, gone, -1);
        this.#slots.delete(this.#first);
      }
    if (this.#slots.size > 0) return;
    this.#first = Infinity;
    // An empty window has the exact sum 0, without rounding errors.
    this.sum.fill(0);
  }

  #endOf(slot: number): number {
    return (slot + 1) * this.#slotMs + this.#windowMs;
  }
}
