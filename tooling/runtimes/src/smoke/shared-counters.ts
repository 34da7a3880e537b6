import assert from "node:assert/strict";
import { Worker } from "node:worker_threads";
import { RateManager } from "@hivepace/core";
import type { Step } from "./step.ts";

const THREADS = 3;
const LIMIT = 1_000;

/** Counters in shared memory that several worker threads change at the same time. */
export const sharedCounters: Step = {
  name: "counters shared by worker threads",
  async run() {
    // A window of a day does not end in the middle of the step.
    const manager = new RateManager({ windowMs: 86_400_000 });
    manager.setEndpoint({ id: "api", rpmLimit: LIMIT });
    const shared = manager.share();
    const program = new URL("./counting-thread.mjs", import.meta.url);
    // Every thread asks for the whole limit.
    const workers = Array.from({ length: THREADS }, () => new Worker(program, { workerData: { shared, asks: LIMIT } }));
    const counts = await Promise.all(workers.map(answerOf));
    await Promise.all(workers.map((worker) => worker.terminate()));

    const granted = counts.reduce((sum, count) => sum + count, 0);
    assert.equal(granted, LIMIT);
    assert.equal(manager.check({ endpoint: "api", tokens: 1 }).allowed, false);
    return `${THREADS} threads asked ${THREADS * LIMIT} times and were granted ${granted}`;
  },
};

function answerOf(worker: Worker): Promise<number> {
  return new Promise((resolve, reject) => {
    worker.once("message", resolve);
    worker.once("error", reject);
    worker.once("exit", (code) => reject(new Error(`the thread ended with ${code} and sent no message`)));
  });
}
