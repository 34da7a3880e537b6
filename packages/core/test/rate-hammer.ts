import { answerOf, startWorker } from "@hivepace/test-kit";
import { expect } from "vitest";
import { RateManager } from "../src/rate/rate-manager.ts";
import type { HammerOrder, HammerReport } from "./rate-hammer.worker.ts";

const LIMIT = 40;
const TOKENS = 3;

/**
 * Makes the given number of threads request one id as fast as they can, and checks that every window grants exactly its
 * limit.
 */
export async function hammer(threads: number, windowMs: number, windows: number): Promise<void> {
  const manager = new RateManager({ windowMs });
  manager.setEndpoint({ id: "one", rpmLimit: LIMIT, tpmLimit: LIMIT * TOKENS });
  // Above the endpoint's limit by one for each thread, because a thread may have charged the key and not yet refunded
  // it.
  manager.setKey("everyone", { rpmLimit: LIMIT + threads });
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
  // Only a full window may refuse a request: all of its limit was granted.
  expect(refused.size).toBeGreaterThanOrEqual(refusals);
  expect([...refused].filter((window) => granted.get(window) !== LIMIT)).toEqual([]);
}
