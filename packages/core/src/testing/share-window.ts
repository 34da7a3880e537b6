import { SHARE_BINS } from "../share-store.ts";
import { addTo, at } from "./share-state.ts";

/** A window is kept in this many slots; what is in one leaves together, up to a slot late and never early. */
const SLOTS = 240;

/** What was used in the last window, by the store's clock. */
export class ShareWindow {
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

  /** Counts a use; what is out of the window by `now` is not counted any more. */
  add(time: number, amounts: readonly number[], now: number, factor = 1): void {
    const slot = Math.floor(time / this.#slotMs);
    if (amounts.every((amount) => amount === 0) || this.#endOf(slot) <= now) return;
    const known = this.#slots.get(slot) ?? this.sum.map(() => 0);
    addTo(known, amounts, factor);
    this.#slots.set(slot, known);
    addTo(this.sum, amounts, factor);
    this.#first = Math.min(this.#first, slot);
  }

  /** Counts so much of what an agent says in its bins, the youngest first, each as late as it may have been. */
  spread(most: readonly number[], bins: readonly (readonly number[])[], now: number): void {
    const left = [...most];
    bins.forEach((bin, b) => {
      const part = left.map((amount, i) => Math.max(0, Math.min(amount, at(bin, i))));
      this.add(now - (b * this.#windowMs) / SHARE_BINS, part, now);
      addTo(left, part, -1);
    });
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
    // Here the sum is known without its rounding errors.
    this.sum.fill(0);
  }

  #endOf(slot: number): number {
    return (slot + 1) * this.#slotMs + this.#windowMs;
  }
}
