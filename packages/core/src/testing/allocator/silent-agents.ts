import { type AgentRow, addTo, at, holdOf } from "./quota-state.ts";

const WHOLE_MS = 25_000;
const HALVING_MS = 5_000;
const NONE_MS = 35_000;
const BUCKET_MS = 1_000;

/**
 * Returns the part of its fair share that an isolated agent may still use, as in the engine: all, then decreasing, then
 * none.
 */
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
 * Capacity held for agents that fell silent without a goodbye. Agents that reported last in the same second are summed
 * up, so the cost does not depend on the size of the swarm.
 */
export class SilentAgents {
  readonly #windowMs: number;
  readonly #dimensions: number;
  readonly #buckets = new Map<number, Bucket>();

  constructor(dimensions: number, windowMs: number) {
    this.#dimensions = dimensions;
    this.#windowMs = windowMs;
  }

  add(row: AgentRow): void {
    const second = Math.floor(row.at / BUCKET_MS);
    const bucket = this.#buckets.get(second) ?? { used: this.#nothing(), from: this.#nothing(), to: this.#nothing() };
    this.#buckets.set(second, bucket);
    this.#change(bucket, row, 1);
  }

  remove(row: AgentRow): void {
    const bucket = this.#buckets.get(Math.floor(row.at / BUCKET_MS));
    if (bucket) this.#change(bucket, row, -1);
  }

  heldAt(now: number): number[] {
    const sum = this.#nothing();
    for (const [second, { used, from, to }] of this.#buckets) {
      const ageMs = now - second * BUCKET_MS;
      const part = trust(ageMs - this.#windowMs);
      if (part === 0) this.#buckets.delete(second);
      // The agent's old usage leaves the window gradually, and the usage it continues by itself takes its place.
      const way = Math.min(1, ageMs / this.#windowMs);
      for (let i = 0; i < sum.length; i++) {
        const may = at(from, i) + (at(to, i) - at(from, i)) * way;
        sum[i] = at(sum, i) + Math.max(0, may * part - at(used, i) * (1 - way));
      }
    }
    return sum;
  }

  #change(bucket: Bucket, row: AgentRow, factor: number): void {
    addTo(bucket.used, row.used, factor);
    addTo(bucket.from, row.used, factor);
    addTo(bucket.from, holdOf(row), factor);
    addTo(bucket.to, row.fair, factor);
  }

  #nothing(): number[] {
    return new Array<number>(this.#dimensions).fill(0);
  }
}
