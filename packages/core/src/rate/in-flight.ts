import { IN_FLIGHT, IN_FLIGHT_LIMIT, MOST_REQUESTS } from "./layout.ts";
import type { Ref } from "./record.ts";

/**
 * Returns the generation of the record for which requests in flight are counted. Requests in flight belong to no window
 * and are counted beside the counters; the upper 8 bits of their word hold the generation. A removed and newly set
 * endpoint therefore starts with none in flight, even if a thread died with open requests, and a late end of an old
 * request does not count against the new endpoint.
 */
const generationOf = (ref: Ref): number => (ref.state >> 3) & 0xff;

export function inFlight(memory: Int32Array, ref: Ref): number {
  const word = Atomics.load(memory, ref.slot + IN_FLIGHT);
  return word >>> 24 === generationOf(ref) ? word & MOST_REQUESTS : 0;
}

/** Counts one request in flight. Returns the generation it was counted for, or -1 when the limit is reached. */
export function enter(memory: Int32Array, ref: Ref): number {
  const at = ref.slot + IN_FLIGHT;
  const generation = generationOf(ref);
  for (;;) {
    const word = Atomics.load(memory, at);
    const count = word >>> 24 === generation ? word & MOST_REQUESTS : 0;
    if (count >= Math.min(memory[ref.slot + IN_FLIGHT_LIMIT] as number, MOST_REQUESTS)) return -1;
    if (Atomics.compareExchange(memory, at, word, (generation << 24) | (count + 1)) === word) return generation;
  }
}

/** Ends one request in flight of this generation; -1 stands for a request that was not counted. */
export function leave(memory: Int32Array, ref: Ref, generation: number): void {
  const at = ref.slot + IN_FLIGHT;
  for (;;) {
    const word = Atomics.load(memory, at);
    if (word >>> 24 !== generation || (word & MOST_REQUESTS) === 0) return;
    if (Atomics.compareExchange(memory, at, word, word - 1) === word) return;
  }
}
