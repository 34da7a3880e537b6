import { expect, test } from "vitest";
import { fairShares, jain } from "./plan.ts";

test.each([
  [
    [2, 2],
    [0.5, 0.5],
  ],
  [
    [0.1, 2, 2],
    [0.1, 0.45, 0.45],
  ],
  [
    [0.2, 0.3],
    [0.2, 0.3],
  ],
  [
    [2, 0.1],
    [0.9, 0.1],
  ],
])("of %j %j is fair", (wants, fair) => {
  for (const [i, share] of fairShares(wants).entries()) expect(share).toBeCloseTo(fair[i] as number);
});

test.each([
  [[1, 1, 1], 1],
  [[1, 0], 0.5],
  [[0, 0], 1],
])("the index of %j is %d", (parts, index) => {
  expect(jain(parts)).toBeCloseTo(index);
});
