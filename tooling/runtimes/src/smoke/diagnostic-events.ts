import assert from "node:assert/strict";
import diagnostics from "node:diagnostics_channel";
import { once } from "node:events";
import { memoryBus } from "@hivepace/bus";
import { channelNames, MemoryLimiter } from "@hivepace/core";
import { createHive } from "@hivepace/distributed";
import type { Step } from "./step.ts";

/** The signals for operators: events on `diagnostics_channel` and warnings of the process. */
export const diagnosticEvents: Step = {
  name: "diagnostic events",
  async run() {
    const events: unknown[] = [];
    const listener = (event: unknown): void => void events.push(event);
    diagnostics.subscribe(channelNames.granted, listener);
    const limiter = new MemoryLimiter();
    limiter.setCapacity("api", 1, 60_000);
    limiter.tryAcquire("api");
    diagnostics.unsubscribe(channelNames.granted, listener);
    await limiter.close();
    assert.equal(events.length, 1);

    const warned = once(process, "warning");
    const hive = await createHive({
      bus: memoryBus(),
      namespace: "smoke-warning",
      endpoints: [{ id: "api", rpmLimit: 10 }],
    });
    assert.throws(() => hive.tryAcquire({ endpoint: "other", tokens: 1 }));
    hive.tryAcquire({ route: ["api", "other"], tokens: 1 }).lease?.done();
    const [warning] = (await warned) as [Error & { code?: string }];
    await hive.close();
    assert.equal(warning.code, "HIVEPACE_UNKNOWN_ENDPOINT");
    return "one event for one grant, a warning with its code";
  },
};
