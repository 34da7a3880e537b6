import { expect, test } from "vitest";
import { median, quantile, ratiosOf, spreadOf } from "./statistics.ts";

test("the median of an even number of values lies between the middle two", () => {
  expect(median([4, 1, 3, 2])).toBe(2.5);
  expect(median([9, 1, 5])).toBe(5);
});

test("a quantile interpolates between neighbours and reaches both ends", () => {
  const values = [50, 10, 20, 40, 30];
  expect([0, 0.1, 0.5, 0.9, 1].map((q) => quantile(values, q))).toEqual([10, 14, 30, 46, 50]);
});

test("values are sorted as numbers and left as they were", () => {
  const values = [10, 9, 100];
  expect(median(values)).toBe(10);
  expect(values).toEqual([10, 9, 100]);
});

test("a single value is its own spread", () => {
  expect(spreadOf([7])).toEqual({ median: 7, low: 7, high: 7 });
});

test("no values have no quantile", () => {
  expect(() => quantile([], 0.5)).toThrow(RangeError);
});

test("a ratio is taken within each round, so that a slow round is slow on both sides", () => {
  expect(ratiosOf([20, 200, 40], [10, 100, 20])).toEqual({ median: 2, low: 2, high: 2 });
});

test("a ratio needs both values of every round", () => {
  expect(() => ratiosOf([1, 2], [1])).toThrow(RangeError);
});
