import { describe, expect, test } from "vitest";
import { type SlotFault, type SlotSwarmOptions, simulateSlots } from "../../src/testing/slot-swarm.ts";

const base: Omit<SlotSwarmOptions, "seed"> = {
  agents: 5,
  slots: 4,
  callers: 1,
  durationMs: 100_000,
  callMs: [500, 3_000],
  leaseMs: 5_000,
  measureFrom: 0,
};

const table: readonly (readonly [string, readonly SlotFault[], number])[] = [
  ["an agent crashes", [{ type: "crash", agents: [0], at: 20_000 }], 4],
  [
    "two agents crash and come back",
    [
      { type: "crash", agents: [0, 1], at: 20_000 },
      { type: "join", agents: [0, 1], at: 25_000 },
    ],
    4,
  ],
  ["an agent leaves with calls under way", [{ type: "leave", agents: [0], at: 20_000 }], 4],
  ["an agent stands still for shorter than its lease", [{ type: "freeze", agents: [0], forMs: 4_000, at: 20_000 }], 4],
  ["an agent stands still for long", [{ type: "freeze", agents: [0], forMs: 20_000, at: 20_000 }], 4],
  ["the bus is away", [{ type: "bus-down", forMs: 20_000, at: 20_000 }], 4],
  ["two agents are cut off", [{ type: "cut", agents: [0, 1], forMs: 20_000, at: 20_000 }], 4],
];

describe("slots are never exceeded and all come back when", () => {
  test.each(table)("%s", async (_, faults, most) => {
    const report = await simulateSlots({ seed: 1, ...base, faults: [...faults, { type: "rest", at: 80_000 }] });
    expect(report.most).toBeLessThanOrEqual(most);
    expect(report.inFlight).toBe(0);
    expect(report.known.every((used) => used === 0)).toBe(true);
  });
});
