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
