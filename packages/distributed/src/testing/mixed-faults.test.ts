import { expect, test } from "vitest";
import { checkSwarm } from "./check-swarm.ts";
import { mixedFaults } from "./mixed-faults.ts";
import { simulateSwarm } from "./simulate-swarm.ts";

test("the same seed gives the same run, another seed another", () => {
  const trace = (seed: number) => simulateSwarm({ ...mixedFaults(7, 2), seed }).trace;
  expect(trace(7)).toBe(trace(7));
  expect(trace(8)).not.toBe(trace(7));
});

test("a failure names its seed and only those faults that it takes", () => {
  const options = {
    seed: 3,
    agents: 4,
    limits: { requests: 1_000 },
    demand: { load: 3 },
    duration: 90_000,
    faults: [
      { at: 5_000, type: "freeze", agents: [0], forMs: 1_000 },
      { at: 10_000, type: "refuse", agents: [1] },
      { at: 20_000, type: "bus-down", forMs: 1_000 },
    ],
  } as const;
  const judge = ({ cuts }: { cuts: number }) => (cuts > 0 ? "it was cut" : undefined);
  expect(() => checkSwarm(options, judge)).toThrowError(
    /^it was cut \(seed 3, 4 agents\), with only:\n {2}\{"at":10000,"type":"refuse","agents":\[1\]\}$/,
  );
  expect(checkSwarm({ ...options, faults: [] }, judge).cuts).toBe(0);
});
