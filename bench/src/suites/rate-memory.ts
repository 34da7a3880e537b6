import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Row } from "../row.ts";
import type { FreeSuite } from "../suite.ts";

/** Runs in a separate process. The names are flat strings, like those of a parser. */
const program = `
  const [core, kind, count] = process.argv.slice(1);
  const { RateManager } = await import(core);
  const name = (i) => Buffer.from("openai:key-" + String(i).padStart(7, "0")).toString("latin1");
  const used = () => { gc(); gc(); const { heapUsed, external } = process.memoryUsage(); return heapUsed + external; };
  const make = (count) => {
    const manager = new RateManager({ windowMs: 3_600_000, limitsForKey: kind === "demand" ? () => ({ rpmLimit: 10 }) : undefined });
    manager.setEndpoint({ id: "eu" });
    for (let i = 0; i < count; i++) {
      if (kind === "keys") manager.setKey(name(i), { rpmLimit: 10, tpmLimit: 1000 });
      if (kind === "endpoints") manager.setEndpoint({ id: name(i), rpmLimit: 10, tpmLimit: 1000 });
      if (kind === "endpoints") manager.check({ endpoint: name(i), tokens: 1 });
      else manager.check({ endpoint: "eu", key: name(i), tokens: 1 });
    }
    return manager;
  };
  make(1000);
  const before = used();
  const kept = make(Number(count));
  const bytes = used() - before;
  if (!kept) throw new Error();
  console.log(bytes);
`;

export const rateMemory: FreeSuite = {
  kind: "free",
  name: "rate-memory",
  title:
    "Heap and buffers for one of 1,000,000 ids of a RateManager (quick: 100,000), its name included, each asked once.",
  async measure({ quick }) {
    const count = quick ? 100_000 : 1_000_000;
    const core = import.meta.resolve("@hivepace/core");
    const rows: Row[] = [];
    for (const [kind, what] of [
      ["keys", "a key"],
      ["demand", "a key on demand"],
      ["endpoints", "an endpoint"],
    ] as const) {
      const options = ["--expose-gc", "--input-type=module", "-e", program, core, kind, String(count)];
      const { stdout } = await promisify(execFile)(process.execPath, options);
      const value = Number(stdout) / count;
      rows.push({ what, value, unit: "bytes", wanted: { of: "value", direction: "at most", limit: 200 } });
    }
    return rows;
  },
};
