import { IN_FLIGHT, IN_FLIGHT_LIMIT, MOST_REQUESTS } from "./layout.ts";
import type { Ref } from "./record.ts";

/**
 * Requests in flight, beside the counters of a record: they belong to no window. The upper 8 bits of the word say which
 * life of the record it counts for, so that a removed and newly set endpoint starts with none, also when a thread died
 * and never ended its requests, and what ends late does not count against the new one.
 */
const lifeOf = (ref: Ref): number => (ref.state >> 3) & 0xff;

export function inFlight(memory: Int32Array, ref: Ref): number {
  const word = Atomics.load(memory, ref.slot + IN_FLIGHT);
  return word >>> 24 === lifeOf(ref) ? word & MOST_REQUESTS : 0;
}

/** Counts one more. Returns the life that it was counted for, or -1 when there are already as many as may be. */
export function enter(memory: Int32Array, ref: Ref): number {
  const at = ref.slot + IN_FLIGHT;
  const life = lifeOf(ref);
  for (;;) {
    const word = Atomics.load(memory, at);
    const count = word >>> 24 === life ? word & MOST_REQUESTS : 0;
    if (count >= Math.min(memory[ref.slot + IN_FLIGHT_LIMIT] as number, MOST_REQUESTS)) return -1;
    if (Atomics.compareExchange(memory, at, word, (life << 24) | (count + 1)) === word) return life;
  }
}

/** Ends one. A life of -1 is nobody's. */
export function leave(memory: Int32Array, ref: Ref, life: number): void {
  const at = ref.slot + IN_FLIGHT;
  for (;;) {
    const word = Atomics.load(memory, at);
    if (word >>> 24 !== life || (word & MOST_REQUESTS) === 0) return;
    if (Atomics.compareExchange(memory, at, word, word - 1) === word) return;
  }
}
