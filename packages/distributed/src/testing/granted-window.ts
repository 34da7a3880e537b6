import { type Amounts, addTo, takeFrom, zeros } from "../engine/index.ts";

interface Entry {
  readonly key: object;
  readonly at: number;
  amounts: Amounts;
  isOver: boolean;
}

/** The sum of the amounts granted in the last window, of which a part may be refunded later. */
export class GrantedWindow {
  readonly sum: number[];
  readonly #windowMs: number;
  readonly #entries: Entry[] = [];
  readonly #byKey = new Map<object, Entry>();
  #first = 0;

  constructor(dimensions: number, windowMs: number) {
    this.sum = zeros(dimensions);
    this.#windowMs = windowMs;
  }

  add(key: object, amounts: Amounts, now: number): void {
    this.#expire(now);
    const entry = { key, at: now, amounts, isOver: false };
    this.#entries.push(entry);
    this.#byKey.set(key, entry);
    addTo(this.sum, amounts);
  }

  /** Replaces the amounts of a grant; an empty list means zero. */
  settle(key: object, amounts: Amounts): void {
    const entry = this.#byKey.get(key);
    this.#byKey.delete(key);
    if (!entry || entry.isOver) return;
    takeFrom(this.sum, entry.amounts);
    entry.amounts = amounts.length > 0 ? amounts : zeros(this.sum.length);
    addTo(this.sum, entry.amounts);
  }

  #expire(now: number): void {
    for (
      let old = this.#entries[this.#first];
      old && old.at <= now - this.#windowMs;
      old = this.#entries[this.#first]
    ) {
      takeFrom(this.sum, old.amounts);
      old.isOver = true;
      this.#first++;
    }
    if (this.#first < 10_000) return;
    this.#entries.splice(0, this.#first);
    this.#first = 0;
  }
}
