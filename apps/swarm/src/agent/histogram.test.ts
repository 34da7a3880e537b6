import { expect, test } from "vitest";
import { Histogram } from "./histogram.ts";

test("quantiles are those of all values, to 2 %", () => {
  const histogram = new Histogram();
  expect(histogram.quantile(0.5)).toBeUndefined();
  for (let ms = 1_000; ms >= 1; ms--) histogram.add(ms);
  for (const [part, ms] of [
    [0.5, 500],
    [0.99, 990],
    [1, 1_000],
  ] as const) {
    expect(histogram.quantile(part)).toBeGreaterThan(ms * 0.98);
    expect(histogram.quantile(part)).toBeLessThan(ms * 1.02);
  }
});

test("a value below a millisecond counts as one", () => {
  const histogram = new Histogram();
  histogram.add(0);
  expect(histogram.quantile(0.99)).toBeCloseTo(1, 1);
});
