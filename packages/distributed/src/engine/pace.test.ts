import { expect, test } from "vitest";
import { Pace } from "./pace.ts";

test("usage puts the swarm ahead of the pace, time reduces the lead, and the lead is never negative", () => {
  const pace = new Pace(1, 60_000);
  const perMs = [2];
  pace.add(0, [100], perMs);
  expect(pace.at(0, perMs)).toEqual([100]);
  expect(pace.at(30, perMs)).toEqual([40]);
  expect(pace.at(1_000, perMs)).toEqual([0]);
  pace.add(1_000, [-50], perMs);
  expect(pace.at(1_000, perMs)).toEqual([0]);
  pace.add(1_000, [10], perMs);
  // A clock that steps back changes nothing.
  expect(pace.at(900, perMs)).toEqual([10]);
});

test("a refund after its usage has drained is credit, for as long as it took to earn", () => {
  const pace = new Pace(1, 60_000);
  const perMs = [2];
  pace.add(0, [100], perMs);
  expect(pace.at(1_000, perMs)).toEqual([0]);
  pace.add(1_000, [-60], perMs, true);
  expect(pace.at(1_000, perMs)).toEqual([-60]);
  expect(pace.at(1_010, perMs)).toEqual([-40]);
  expect(pace.at(1_030, perMs)).toEqual([0]);
});

test("credit is never more than a window of the pace", () => {
  const pace = new Pace(1, 1_000);
  pace.add(0, [-1e6], [2], true);
  expect(pace.at(0, [2])).toEqual([-2_000]);
  expect(pace.at(0, [0.5])).toEqual([-500]);
});

test("no call is delayed for more than a window, however large a burst was", () => {
  const pace = new Pace(1, 1_000);
  pace.add(0, [1e6], [2]);
  expect(pace.at(0, [2])).toEqual([2_000]);
  // Lowering the limit meanwhile does not lengthen the wait.
  expect(pace.at(0, [0.5])).toEqual([500]);
  expect(pace.at(1_000, [0.5])).toEqual([0]);
});
