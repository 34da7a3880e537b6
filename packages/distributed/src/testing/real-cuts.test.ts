import { expect, test } from "vitest";
import { Allowance } from "./allowance.ts";
import { RealCuts } from "./real-cuts.ts";

test("agents that learn of one cut at different times know the same cut", () => {
  const cuts = new RealCuts();
  const live = () => 3;
  cuts.note("a", 10_000, 10_000, live);
  cuts.note("b", 10_060, 10_100, live);
  cuts.note("b", 10_060, 40_000, live);
  cuts.note("c", 9_950, 10_250, live);
  // A newcomer learns of the cut when it starts.
  cuts.note("d", 10_100, 60_000, live);
  expect([cuts.count, cuts.spreadMs]).toEqual([1, 250]);
  cuts.note("a", 75_000, 75_000, live);
  expect(cuts.count).toBe(2);
});

test("the mean of what a provider allowed follows its falls", () => {
  const allowance = new Allowance();
  expect(allowance.between(0, 100)).toBe(1);
  allowance.set(50, 0.5);
  allowance.set(75, 1);
  expect(allowance.between(0, 100)).toBe(0.875);
  expect(allowance.between(50, 75)).toBe(0.5);
  allowance.set(100, 0);
  expect(allowance.between(100, 200)).toBe(1);
});
