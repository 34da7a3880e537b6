import { resourceNames } from "./limit.ts";
import { type MemoryReading, memoryContenders } from "./memory-contenders.ts";

/** Measures one contender with `count` names and prints a MemoryReading. Needs --expose-gc. */
const [, , contender = "", count = ""] = process.argv;
const make = memoryContenders.makers[contender];
if (make === undefined || globalThis.gc === undefined) throw new Error(`cannot measure "${contender}"`);
const { gc } = globalThis;

function used(): number {
  // Twice, because objects with finalizers are freed only by the second collection.
  gc();
  gc();
  const { heapUsed, external } = process.memoryUsage();
  // `external` includes the array buffers.
  return heapUsed + external;
}

// A first run with a few names, so that compiled code and type feedback are not counted as data.
make(resourceNames(1_000));
const before = used();
const kept = make(resourceNames(Number(count)));
const reading: MemoryReading = { bytes: used() - before };
// This use keeps the data alive until after the reading.
if (kept === undefined) throw new Error("nothing was kept");
process.stdout.write(JSON.stringify(reading), () => process.exit());
