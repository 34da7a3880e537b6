import { expect, test } from "vitest";
import { fairShares, jainIndex } from "./fairness.ts";

test.each([
  [9, [1, 10, 10], [1, 4, 4]],
  [30, [1, 10, 10], [1, 10, 10]],
  [3, [5, 5, 5], [1, 1, 1]],
  [0, [1, 2], [0, 0]],
])("%d among those who want %j is %j", (total, wanted, shares) => {
  expect(fairShares(total, wanted)).toEqual(shares);
});

test.each([
  ["all got the same", [3, 3, 3], [9, 9, 9], 1],
  ["who wanted little got it all", [1, 4, 4], [1, 9, 9], 1],
  ["one of four got everything", [8, 0, 0, 0], [8, 8, 8, 8], 0.25],
  ["a noisy one took from the quiet", [8, 0.5, 0.5], [100, 1, 1], 0.8],
  ["nobody got anything", [0, 0], [1, 1], 1],
])("%s", (_, served, wanted, index) => {
  expect(jainIndex(served, wanted)).toBeCloseTo(index, 1);
});
