import { expect, test } from "vitest";
import { type SlotSwarmOptions, simulateSlots } from "../../src/testing/slot-swarm.ts";

const QUICK_BUS = { delayMs: [5, 5], loss: 0, duplicates: 0, slow: 0 } as const;
const LONG_CALLS: Pick<SlotSwarmOptions, "callMs" | "network"> = { callMs: [2_000, 30_000], network: QUICK_BUS };

test.each([
  ["20 slots among 10 agents", { agents: 10, slots: 20, callers: 4, durationMs: 400_000, ...LONG_CALLS }, 0.95],
  ["3 slots among 10 agents", { agents: 10, slots: 3, callers: 1, durationMs: 900_000, ...LONG_CALLS }, 0.85],
  ["1 slot among 20 agents", { agents: 20, slots: 1, callers: 1, durationMs: 2_000_000, ...LONG_CALLS }, 0.85],
] as const)("%s are used, shared fairly and handed over at once", async (_, options, use) => {
  const report = await simulateSlots({ seed: 1, ...options });
  expect(report.most).toBeLessThanOrEqual(options.slots);
  expect(report.use).toBeGreaterThanOrEqual(use);
  expect(report.jain).toBeGreaterThanOrEqual(0.95);
  expect(Math.min(...report.callsOf)).toBeGreaterThan(0);
  // Two latencies of the bus, in milliseconds.
  expect(report.handoverMs).toBeLessThanOrEqual(10);
});

test("agents with short calls use their own slots again without a message", async () => {
  const options = { agents: 2, slots: 20, callMs: [100, 300], network: QUICK_BUS, durationMs: 20_000 } as const;
  const report = await simulateSlots({ seed: 3, ...options });
  expect(report.most).toBeLessThanOrEqual(20);
  expect(report.use).toBeGreaterThanOrEqual(0.9);
  expect(report.messagesPerCall).toBeLessThan(1);
});

test("slots and a rate limit hold together on a bus that loses messages", async () => {
  const options = {
    agents: 6,
    slots: 4,
    callers: 2,
    requests: 120,
    callMs: [500, 3_000],
    durationMs: 120_000,
  } as const;
  const report = await simulateSlots({ seed: 5, ...options });
  expect(report.most).toBeLessThanOrEqual(4);
  // Both limits apply: at most 120 calls a minute of 1.75 s on average fill 3.5 of the slots.
  expect(report.use).toBeGreaterThanOrEqual(0.65);
});
