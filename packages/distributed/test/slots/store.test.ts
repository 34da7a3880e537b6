import { expect, test } from "vitest";
import { simulateSlots } from "../../src/testing/slot-swarm.ts";

test("a store that grants the limits grants slots as well, and takes them back when calls end", async () => {
  const report = await simulateSlots({
    seed: 1,
    agents: 8,
    slots: 10,
    callers: 4,
    callMs: [2_000, 10_000],
    durationMs: 240_000,
    leaseMs: 20_000,
    measureFrom: 30_000,
    store: { aggregation: "store" },
    faults: [
      { type: "crash", agents: [0], at: 60_000 },
      { type: "rest", at: 200_000 },
    ],
  });
  expect(report.most).toBeLessThanOrEqual(10);
  expect(report.calls).toBeGreaterThan(150);
  expect(report.inFlight).toBe(0);
});
