import { expect, test } from "vitest";
import { HEIGHT, lastMinute, pathOf, topOf, WIDTH } from "../src/playground/curves.ts";

test("a steady rate of one limit is one limit in the last minute, once the window is full", () => {
  const sums = lastMinute(new Array<number>(180).fill(1));
  expect(sums[29]).toBeCloseTo(0.5);
  expect(sums[59]).toBeCloseTo(1);
  expect(sums[179]).toBeCloseTo(1);
});

test("usage leaves the sum after a minute", () => {
  const seconds = [60, ...new Array<number>(119).fill(0)];
  const sums = lastMinute(seconds);
  expect(sums[59]).toBeCloseTo(1);
  expect(sums[60]).toBeCloseTo(0);
});

test("the axis always shows the limit, and every value", () => {
  expect(topOf([[0.2]])).toBe(1.5);
  expect(topOf([[0.2], [2.3]])).toBe(2.5);
});

test("a path stays within the picture", () => {
  const numbers = [...pathOf([0, 2, 1], 2).matchAll(/[ML]([\d.]+) ([\d.]+)/g)];
  expect(numbers).toHaveLength(3);
  for (const [, x, y] of numbers) {
    expect(Number(x)).toBeLessThanOrEqual(WIDTH);
    expect(Number(y)).toBeLessThanOrEqual(HEIGHT);
  }
});
