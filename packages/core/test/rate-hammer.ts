import { answerOf, startWorker } from "@hivepace/test-kit";
import { expect } from "vitest";
import { RateManager } from "../src/rate/rate-manager.ts";
import type { HammerOrder, HammerReport } from "./rate-hammer.worker.ts";

const LIMIT = 40;
const TOKENS = 3;

/** So many threads ask for one id as fast as they can: every window grants its limit to them, exactly. */
export async function hammer(threads: number, windowMs: number, windows: number): Promise<void> {
  const manager = new RateManager({ windowMs });
  manager.setEndpoint({ id: "one", rpmLimit: LIMIT, tpmLimit: LIMIT * TOKENS });
  // More than the endpoint and one for each thread, which may have charged the key and not yet taken it back.
  manager.setKey("everyone", { rateLimitRpm: LIMIT + threads });
  const start = new SharedArrayBuffer(4);
  const refusals = windows / 10;
  const order: HammerOrder = { shared: manager.share(), start, threads, windows, refusals, tokens: TOKENS };
  const reports = await Promise.all(
    Array.from({ length: threads }, async () => {
      const file = new URL("rate-hammer.worker.ts", import.meta.url);
      return answerOf<HammerReport>(await startWorker(file, { workerData: order }));
    }),
  );
  const granted = new Map<number, number>();
  const refused = new Set<number>();
  for (const report of reports) {
    for (const [window, count] of report.granted) granted.set(window, (granted.get(window) ?? 0) + count);
    for (const window of report.refused) refused.add(window);
  }
  expect([...granted].filter(([, count]) => count > LIMIT)).toEqual([]);
  // Whoever was refused was refused by a full window: all of it was granted to someone.
  expect(refused.size).toBeGreaterThanOrEqual(refusals);
  expect([...refused].filter((window) => granted.get(window) !== LIMIT)).toEqual([]);
}
