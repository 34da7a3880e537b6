import { answerOf, startWorker } from "@hivepace/test-kit";
import { expect, test } from "vitest";
import { RateManager } from "../src/rate/rate-manager.ts";
import type { ChurnOrder, ChurnReport } from "./rate-churn.worker.ts";
import { hammer } from "./rate-hammer.ts";

const churn = (workerData: ChurnOrder) => startWorker(new URL("rate-churn.worker.ts", import.meta.url), { workerData });

test(
  "two threads request one id over hundreds of windows of 1 ms, and each window grants exactly its limit",
  () => hammer(2, 1, 400),
  20_000,
);

test("two threads that add and remove ids while counting one lose no count", async () => {
  const manager = new RateManager({ windowMs: 3_600_000 });
  manager.setEndpoint({ id: "one", rpmLimit: 10_000_000 });
  const shared = manager.share({ maxIds: 100 });
  const rounds = 5_000;
  const reports = await Promise.all(
    ["a", "b"].map(async (name) => answerOf<ChurnReport>(await churn({ shared, name, rounds }))),
  );
  const [one] = manager.snapshot().endpoints.filter(({ id }) => id === "one");
  expect(one?.requests).toBe(reports.reduce((sum, report) => sum + report.requests, 0));
  expect(one?.tokens).toBe(reports.reduce((sum, report) => sum + report.tokens, 0));
});

test("threads that die during a change leave no record locked", async () => {
  const manager = new RateManager({ windowMs: 20 });
  manager.setEndpoint({ id: "one" });
  const shared = manager.share({ maxIds: 200 });
  for (let i = 0; i < 2; i++) {
    const worker = await churn({ shared, name: `${i}`, rounds: Infinity });
    await answerOf(worker);
    for (let round = 0; round < 500; round++) {
      manager.setKey(`common ${round % 7}`, { rpmLimit: 1_000_000 });
      manager.check({ endpoint: "one", key: `common ${round % 7}`, tokens: 1 });
    }
    await worker.terminate();
    for (let key = 0; key < 20; key++) {
      manager.setKey(`common ${key}`, { rpmLimit: 1_000_000 });
      expect(manager.check({ endpoint: "one", key: `common ${key}`, tokens: 1 }).allowed).toBe(true);
      expect(manager.removeKey(`common ${key}`)).toBe(true);
    }
  }
});
