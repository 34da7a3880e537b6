import { type Amounts, addTo, takeFrom, zeros } from "../engine/index.ts";

/** The exact sum over the last `windowMs`. An entry that is exactly `windowMs` old no longer counts. */
export class ExactWindow {
  readonly #windowMs: number;
  readonly #entries: { readonly at: number; readonly amounts: Amounts }[] = [];
  #first = 0;
  readonly sum: number[];

  constructor(dimensions: number, windowMs: number) {
    this.#windowMs = windowMs;
    this.sum = zeros(dimensions);
  }

  add(now: number, amounts: Amounts): void {
    this.#entries.push({ at: now, amounts });
    addTo(this.sum, amounts);
  }

  expire(now: number): void {
    for (
      let old = this.#entries[this.#first];
      old && old.at <= now - this.#windowMs;
      old = this.#entries[this.#first]
    ) {
      takeFrom(this.sum, old.amounts);
      this.#first++;
    }
    if (this.#first < 10_000) return;
    this.#entries.splice(0, this.#first);
    this.#first = 0;
  }
}
