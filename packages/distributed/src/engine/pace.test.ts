import { expect, test } from "vitest";
import { Pace } from "./pace.ts";

test("what is used puts the swarm ahead, time takes that away again, and nobody gets behind", () => {
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

test("nobody is held back for longer than a window, however much was used at once", () => {
  const pace = new Pace(1, 1_000);
  pace.add(0, [1e6], [2]);
  expect(pace.at(0, [2])).toEqual([2_000]);
  // A limit that is lowered meanwhile does not make it longer.
  expect(pace.at(0, [0.5])).toEqual([500]);
  expect(pace.at(1_000, [0.5])).toEqual([0]);
});
