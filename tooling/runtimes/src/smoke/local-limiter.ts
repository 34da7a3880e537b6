import assert from "node:assert/strict";
import { MemoryLimiter } from "@hivepace/core";
import type { Step } from "./step.ts";

const DAY_MS = 86_400_000;
const WINDOW_MS = 50;

/** Token buckets on the runtime's own clock, timers and abort signals. */
export const localLimiter: Step = {
  name: "local limiter",
  async run() {
    const limiter = new MemoryLimiter();
    limiter.setCapacity("daily", 3, DAY_MS);
    const granted = Array.from({ length: 5 }, () => limiter.tryAcquire("daily"));
    assert.deepEqual(granted, [true, true, true, false, false]);

    limiter.setCapacity("quick", 1, WINDOW_MS);
    const startedAt = performance.now();
    const answers = await Promise.all([1, 2, 3].map((n) => limiter.run("quick", async () => n)));
    const tookMs = performance.now() - startedAt;
    assert.deepEqual(answers, [1, 2, 3]);
    assert.ok(tookMs >= 2 * WINDOW_MS, `three calls at one per ${WINDOW_MS} ms took only ${tookMs} ms`);

    const given = new AbortController();
    const aborted = limiter.acquire("daily", { signal: given.signal });
    given.abort(new Error("changed my mind"));
    await assert.rejects(aborted, /changed my mind/);

    const waiting = limiter.acquire("daily");
    await limiter.close();
    await assert.rejects(waiting, { code: "LIMITER_CLOSED" });
    return "3 of 5 granted, waits end by refill, by abort and by close";
  },
};
