import { Worker } from "node:worker_threads";
import { RateManager } from "@hivepace/core";
import type { Row } from "../row.ts";
import { ratiosOf, spreadOf } from "../statistics.ts";
import type { FreeSuite } from "../suite.ts";

/** Repeats one operation for a while, and reports the number of calls and the nanoseconds. */
const program = `
  const { parentPort, workerData } = require("node:worker_threads");
  const { core, shared, endpoint, gate, threads, ms } = workerData;
  import(core).then(({ RateManager }) => {
    let once;
    if (endpoint === undefined) once = () => performance.now() >= 0;
    else {
      const handle = new RateManager({ shared }).handle({ endpoint });
      once = () => handle.check(1).allowed;
    }
    const run = (ms) => {
      const start = process.hrtime.bigint();
      const end = start + BigInt(ms * 1e6);
      let count = 0;
      while (process.hrtime.bigint() < end) for (let i = 0; i < 1000; i++, count++) if (!once()) throw new Error("refused");
      return { count, nanos: Number(process.hrtime.bigint() - start) };
    };
    const warm = run(100);
    const together = new Int32Array(gate);
    Atomics.add(together, 0, 1);
    while (Atomics.load(together, 0) < threads);
    const { count, nanos } = run(ms);
    parentPort.postMessage({ total: warm.count + count, count, nanos });
  });
`;

interface Answer {
  readonly total: number;
  readonly count: number;
  readonly nanos: number;
}

/** The operation of each thread: a check of this endpoint, or only a clock read. */
type Asked = string | undefined;

/** Calls per microsecond of all threads together, and the number of granted requests that were not counted. */
async function measure(asked: readonly Asked[], ms: number): Promise<{ rate: number; lost: number }> {
  const manager = new RateManager({ windowMs: 3_600_000 });
  for (const id of asked) if (id !== undefined) manager.setEndpoint({ id, tpmLimit: 2e9 });
  const common = { core: import.meta.resolve("@hivepace/core"), shared: manager.share(), threads: asked.length, ms };
  const gate = new SharedArrayBuffer(4);
  const answers = await Promise.all(
    asked.map(
      (endpoint) =>
        new Promise<Answer>((resolve, reject) => {
          const worker = new Worker(program, { eval: true, workerData: { ...common, endpoint, gate } });
          worker.once("message", resolve);
          worker.once("error", reject);
        }),
    ),
  );
  const counted = manager.snapshot().endpoints.reduce((sum, { tokens }) => sum + tokens, 0);
  const granted = answers.reduce((sum, { total }, i) => sum + (asked[i] === undefined ? 0 : total), 0);
  const rate = answers.reduce((sum, { count, nanos }) => sum + (count / nanos) * 1_000, 0);
  return { rate, lost: Math.abs(granted - counted) };
}

const one = "1 thread";
const different = "2 threads, different ids";
const same = "2 threads, one id";
const oneClock = "1 thread that only reads the clock";
const twoClocks = "2 threads that only read the clock";

const cases: Readonly<Record<string, readonly Asked[]>> = {
  [one]: ["a"],
  [different]: ["a", "b"],
  [same]: ["a", "a"],
  [oneClock]: [undefined],
  [twoClocks]: [undefined, undefined],
};

export const rateThreads: FreeSuite = {
  kind: "free",
  name: "rate-threads",
  title: "Decisions per microsecond by handles in worker threads that share their counts.",
  async measure({ quick, rounds }) {
    const rates: Record<string, number[]> = {};
    let lost = 0;
    for (let round = 0; round < Math.min(rounds, 5); round++)
      for (const [what, asked] of Object.entries(cases)) {
        const result = await measure(asked, quick ? 200 : 500);
        rates[what] = [...(rates[what] ?? []), result.rate];
        lost += result.lost;
      }
    const row = (what: string, against: string, note?: string): Row => {
      const [these = [], those = []] = [rates[what], rates[against]];
      const value = spreadOf(these).median;
      if (what === against) return { what, value, unit: "a µs" };
      return { what, value, unit: "a µs", against, ratio: ratiosOf(these, those), ...(note && { note }) };
    };
    return [
      row(one, one),
      row(same, one),
      row(oneClock, oneClock),
      row(twoClocks, oneClock, "what this machine gives a second thread, with nothing shared at all"),
      { ...row(different, one), wanted: { of: "ratio", direction: "at least", limit: 1.7 } },
      {
        what: "granted and not counted",
        value: lost,
        unit: "requests",
        wanted: { of: "value", direction: "at most", limit: 0 },
      },
    ];
  },
};
