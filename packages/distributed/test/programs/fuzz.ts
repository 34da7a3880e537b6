/**
 * Publishes a flood of malformed messages: `swarm:fuzz [messages] [seed]`. Exits 1 if they change an agent's state or
 * stay in memory.
 */
import { isDeepStrictEqual } from "node:util";
import { hear } from "../support/hear-noise.ts";

/** Heap growth that the runtime itself may cause, in megabytes. A million retained messages would take hundreds. */
const MOST_MB = 20;

const [messages = "1000000", seed = "1"] = process.argv.slice(2);
globalThis.gc?.();
const heapBefore = process.memoryUsage().heapUsed;
const start = performance.now();
const { before, after, counts, ignored } = await hear(Number(messages), Number(seed));
const seconds = (performance.now() - start) / 1_000;
globalThis.gc?.();
const heapMb = (process.memoryUsage().heapUsed - heapBefore) / 1e6;

console.log(counts);
console.log(
  `${ignored} of ${messages} ignored in ${seconds.toFixed(1)} s, heap ${heapMb.toFixed(1)} MB more, seed ${seed}`,
);
const isUnchanged = isDeepStrictEqual(before, after) && ignored === Number(messages);
if (!isUnchanged) console.error("changed:", before, after);
const isBounded = heapMb < MOST_MB;
if (!isBounded) console.error(`the heap has grown by ${heapMb.toFixed(1)} MB, ${MOST_MB} are allowed`);
process.exitCode = isUnchanged && isBounded ? 0 : 1;
