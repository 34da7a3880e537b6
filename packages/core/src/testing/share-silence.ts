import { addTo, at, holdOf, type ShareRow } from "./share-state.ts";

const WHOLE_MS = 25_000;
const HALVING_MS = 5_000;
const NONE_MS = 35_000;
const BUCKET_MS = 1_000;

/** How much an agent that is cut off still makes use of, as the engine has it: whole, then less, then nothing is kept for it. */
function trust(silentMs: number): number {
  if (silentMs <= WHOLE_MS) return 1;
  return silentMs >= NONE_MS ? 0 : 0.5 ** ((silentMs - WHOLE_MS) / HALVING_MS);
}

interface Bucket {
  readonly used: number[];
  readonly from: number[];
  readonly to: number[];
}

/**
 * What is kept free for those who fell silent without a goodbye. Those of one second are one sum: the silent of a large
 * swarm cost as little as those of a small one.
 */
export class ShareSilence {
  readonly #windowMs: number;
  readonly #dimensions: number;
  readonly #buckets = new Map<number, Bucket>();

  constructor(dimensions: number, windowMs: number) {
    this.#dimensions = dimensions;
    this.#windowMs = windowMs;
  }

  add(row: ShareRow): void {
    const second = Math.floor(row.at / BUCKET_MS);
    const bucket = this.#buckets.get(second) ?? { used: this.#nothing(), from: this.#nothing(), to: this.#nothing() };
    this.#buckets.set(second, bucket);
    this.#change(bucket, row, 1);
  }

  remove(row: ShareRow): void {
    const bucket = this.#buckets.get(Math.floor(row.at / BUCKET_MS));
    if (bucket) this.#change(bucket, row, -1);
  }

  kept(now: number): number[] {
    const sum = this.#nothing();
    for (const [second, { used, from, to }] of this.#buckets) {
      const ageMs = now - second * BUCKET_MS;
      const part = trust(ageMs - this.#windowMs);
      if (part === 0) this.#buckets.delete(second);
      // What it used before leaves the window meanwhile; what it goes on using takes its place.
      const way = Math.min(1, ageMs / this.#windowMs);
      for (let i = 0; i < sum.length; i++) {
        const may = at(from, i) + (at(to, i) - at(from, i)) * way;
        sum[i] = at(sum, i) + Math.max(0, may * part - at(used, i) * (1 - way));
      }
    }
    return sum;
  }

  #change(bucket: Bucket, row: ShareRow, factor: number): void {
    addTo(bucket.used, row.used, factor);
    addTo(bucket.from, row.used, factor);
    addTo(bucket.from, holdOf(row), factor);
    addTo(bucket.to, row.fair, factor);
  }

  #nothing(): number[] {
    return new Array<number>(this.#dimensions).fill(0);
  }
}
