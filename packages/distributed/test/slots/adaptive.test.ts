import { expect, test } from "vitest";
import { type SlotSwarmOptions, simulateSlots } from "../../src/testing/slot-swarm.ts";

const base: Omit<SlotSwarmOptions, "adapts" | "durationMs"> = {
  seed: 1,
  agents: 5,
  slots: 60,
  callers: 12,
  callMs: [800, 1_200],
  network: { delayMs: [5, 5], loss: 0.01, duplicates: 0, slow: 0 },
};
/** Capacity of the provider: this number of concurrent calls, and of completed calls per second. */
const BEST = 20;

test("the limit settles at what the provider can work on", async () => {
  const adapts = { min: 2, capacity: () => BEST };
  const report = await simulateSlots({ ...base, adapts, durationMs: 120_000, measureFrom: 50_000 });
  expect(report.perSecond).toBeGreaterThan(0.85 * BEST);
  expect(report.refused / report.calls).toBeLessThan(0.05);
  expect(report.mostMeasured).toBeLessThanOrEqual(Math.ceil((BEST * 4) / 3));
});

test.each([
  ["refuses the fourth call at a time", { capacity: 3, refusesFrom: 1 }, 0.05],
  ["refuses the 21st call at a time", { capacity: 20, refusesFrom: 1 }, 0.05],
  ["refuses one call in a hundred for another reason as well", { capacity: 20, refusesFrom: 1, failing: 0.01 }, 0.05],
] as const)("the limit settles at a provider that %s", async (_, { capacity, ...provider }, refused) => {
  const adapts = { min: 1, capacity: () => capacity, ...provider };
  const report = await simulateSlots({ ...base, adapts, durationMs: 120_000, measureFrom: 60_000 });
  expect(report.perSecond).toBeGreaterThan(0.85 * capacity);
  expect(report.refused / report.calls).toBeLessThan(refused);
});

test("the limit follows a provider whose capacity falls to half and comes back", async () => {
  const capacity = (timeMs: number) => (timeMs > 60_000 && timeMs < 120_000 ? BEST / 2 : BEST);
  const during = await simulateSlots({
    ...base,
    adapts: { min: 2, capacity },
    durationMs: 120_000,
    measureFrom: 75_000,
  });
  expect(during.perSecond).toBeGreaterThan((0.85 * BEST) / 2);
  const after = await simulateSlots({
    ...base,
    adapts: { min: 2, capacity },
    durationMs: 190_000,
    measureFrom: 150_000,
  });
  expect(after.perSecond).toBeGreaterThan(0.85 * BEST);
});
