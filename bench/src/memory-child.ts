import { resourceNames } from "./limit.ts";
import { type MemoryReading, memoryContenders } from "./memory-contenders.ts";

/** Takes the name of a contender and a count; prints a MemoryReading. Needs --expose-gc. */
const [, , contender = "", count = ""] = process.argv;
const make = memoryContenders.makers[contender];
if (make === undefined || globalThis.gc === undefined) throw new Error(`cannot measure "${contender}"`);
const { gc } = globalThis;

function used(): number {
  // Twice: what the first collection only marks for finalizing, the second frees.
  gc();
  gc();
  const { heapUsed, external } = process.memoryUsage();
  // `external` includes the array buffers.
  return heapUsed + external;
}

// Once with a few names, so that code and its feedback are not counted as data.
make(resourceNames(1_000));
const before = used();
const kept = make(resourceNames(Number(count)));
const reading: MemoryReading = { bytes: used() - before };
// The use after the reading keeps it alive until then.
if (kept === undefined) throw new Error("nothing was kept");
process.stdout.write(JSON.stringify(reading), () => process.exit());
