import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type MemoryReading, memoryContenders } from "../memory-contenders.ts";
import type { Row } from "../row.ts";
import { spreadOf } from "../statistics.ts";
import type { FreeSuite } from "../suite.ts";

/** The child program, next to the bundled main file. */
const child = fileURLToPath(new URL("./memory-child.js", import.meta.url));

/**
 * Measures in a separate process: garbage of other suites does not count, and the millions of objects disturb no other suite.
 */
async function bytesEach(contender: string, count: number): Promise<number> {
  const { stdout } = await promisify(execFile)(process.execPath, ["--expose-gc", child, contender, String(count)]);
  return (JSON.parse(stdout) as MemoryReading).bytes / count;
}

export const memory: FreeSuite = {
  kind: "free",
  name: "memory",
  title:
    "Heap and buffers for one of 1,000,000 resources (quick: 100,000), its name of 18 characters included, each asked once.",
  async measure({ quick }) {
    const count = quick ? 100_000 : 1_000_000;
    const against = memoryContenders.floor;
    const floor = await bytesEach(against, count);
    const rows: Row[] = [{ what: against, value: floor, unit: "bytes" }];
    for (const what of Object.keys(memoryContenders.makers)) {
      if (what === against) continue;
      const value = await bytesEach(what, count);
      rows.push({ what, value, unit: "bytes", against, ratio: spreadOf([value / floor]) });
      if (what === memoryContenders.ours)
        rows.push({ what, value, unit: "bytes", wanted: { of: "value", direction: "at most", limit: 200 } });
    }
    return rows;
  },
};
