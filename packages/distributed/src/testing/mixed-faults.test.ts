import { expect, test } from "vitest";
import { checkSwarm } from "./check-swarm.ts";
import { mixedFaults } from "./mixed-faults.ts";
import type { Drive } from "./options.ts";
import { simulateSwarm } from "./simulate-swarm.ts";

test.each<Drive>(["engine", "hive", "limiter"])(
  "the same seed gives the same run, another seed another: %s",
  async (drive) => {
    const { faults, agents } = mixedFaults(7, 2);
    const options = { agents, faults, limits: { requests: 500 }, demand: { load: 2 }, duration: 45_000, drive };
    const trace = async (seed: number) => (await simulateSwarm({ ...options, seed })).trace;
    const first = await trace(7);
    expect(await trace(7)).toBe(first);
    expect(await trace(8)).not.toBe(first);
  },
);

test("a failure names its seed and only the faults that it needs", async () => {
  const options = {
    seed: 3,
    agents: 4,
    limits: { requests: 200 },
    demand: { load: 2 },
    duration: 40_000,
    faults: [
      { at: 5_000, type: "freeze", agents: [0], forMs: 1_000 },
      { at: 10_000, type: "refuse", agents: [1] },
      { at: 20_000, type: "bus-down", forMs: 1_000 },
    ],
  } as const;
  const judge = ({ cuts }: { cuts: number }) => (cuts > 0 ? "it was cut" : undefined);
  await expect(checkSwarm(options, judge)).rejects.toThrowError(
    /^it was cut \(seed 3, 4 agents\), with only:\n {2}\{"at":10000,"type":"refuse","agents":\[1\]\}$/,
  );
  expect((await checkSwarm({ ...options, faults: [] }, judge)).cuts).toBe(0);
});
