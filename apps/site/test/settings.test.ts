import { simulateSwarm } from "@hivepace/distributed/testing";
import { expect, test } from "vitest";
import { AGAINST, DEFAULTS, FAULTS, optionsOf, SLIDERS } from "../src/playground/settings.ts";

const small = { ...DEFAULTS, agents: 5, limit: 300, load: 1 };

test.each(Object.keys(FAULTS) as (keyof typeof FAULTS)[])(
  "the fault %s can be simulated, and the limit holds",
  async (fault) => {
    const report = await simulateSwarm(optionsOf({ ...small, fault }, "hive"));
    expect(report.agents).toBe(5);
    expect(report.max).toBeLessThanOrEqual(1.01);
  },
);

test("every fault can be chosen for a single agent", async () => {
  for (const fault of Object.keys(FAULTS) as (keyof typeof FAULTS)[]) {
    const report = await simulateSwarm(optionsOf({ ...small, agents: 1, fault }, "hive"));
    expect(report.sent).toBeGreaterThan(0);
  }
});

test("every alternative can be simulated", async () => {
  for (const against of Object.keys(AGAINST) as (keyof typeof AGAINST)[]) {
    if (against === "none") continue;
    expect((await simulateSwarm(optionsOf(small, against))).scheme).toBe(against);
  }
});

test("the defaults are within the bounds of the sliders", () => {
  for (const { name, min, max } of SLIDERS) {
    expect(DEFAULTS[name]).toBeGreaterThanOrEqual(min);
    expect(DEFAULTS[name]).toBeLessThanOrEqual(max);
  }
});
