import { expect, test } from "vitest";
import { type CounterKind, newCounter } from "./provider-counters.ts";

/**
 * For a limit of 10 in a window of 12 s: the number of calls that fit at each time, after all earlier ones were
 * counted.
 */
const TABLES: Record<
  string,
  { kind: CounterKind; burst?: number; steps: readonly (readonly [at: number, fits: number])[] }
> = {
  "a sliding window frees what is a window old": {
    kind: "sliding",
    steps: [
      [0, 10],
      [1_000, 0],
      [11_999, 0],
      [12_000, 10],
    ],
  },
  // The simulated provider's windows end at 8 s, 20 s and so on.
  "a fixed window frees all at its end": {
    kind: "fixed",
    steps: [
      [0, 10],
      [7_999, 0],
      [8_000, 10],
      [19_999, 0],
      [20_000, 10],
    ],
  },
  "a bucket refills evenly": {
    kind: "bucket",
    steps: [
      [0, 10],
      [1_199, 0],
      [1_200, 1],
      [6_000, 4],
    ],
  },
  "a small bucket holds a part of the limit": {
    kind: "bucket",
    burst: 0.3,
    steps: [
      [0, 3],
      [1_200, 1],
      [60_000, 3],
    ],
  },
};

test.each(Object.entries(TABLES))("%s", (_, { kind, burst, steps }) => {
  const counter = newCounter(kind, [10], 12_000, burst);
  for (const [now, expected] of steps) {
    let accepted = 0;
    for (; counter.fits([1], now); accepted++) counter.count([1], now);
    expect([now, accepted]).toEqual([now, expected]);
  }
});

test("a counter of two dimensions has capacity only when both have", () => {
  const counter = newCounter("sliding", [10, 1_000], 60_000);
  counter.count([1, 900], 0);
  expect(counter.left(0)).toEqual([9, 100]);
  expect(counter.fits([1, 100], 0)).toBe(true);
  expect(counter.fits([1, 101], 0)).toBe(false);
});

test("a counter reports when it is empty again", () => {
  const resets = (kind: CounterKind) => {
    const counter = newCounter(kind, [10], 12_000);
    counter.count([5], 1_000);
    return counter.resetMs(2_000);
  };
  expect(resets("sliding")).toBe(11_000);
  expect(resets("fixed")).toBe(6_000);
  expect(resets("bucket")).toBeCloseTo(5_000);
});

test("a lower allowance counts at once, and so does a higher one", () => {
  const counter = newCounter("sliding", [10], 60_000);
  counter.count([6], 0);
  counter.allow([5]);
  expect(counter.left(0)).toEqual([-1]);
  counter.allow([20]);
  expect(counter.left(0)).toEqual([14]);
});
