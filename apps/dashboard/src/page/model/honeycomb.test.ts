import { expect, test } from "vitest";
import { honeycomb, LARGEST_CELL, SMALLEST_CELL } from "./honeycomb.ts";

test.each([
  [1, 660, 480],
  [2, 330, 480],
  [8, 660, 480],
  [8, 330, 480],
  [100, 660, 480],
  [1_000, 660, 480],
  [1_000, 350, 480],
])("%d cells fit into %d × %d, and no two stand on each other", (count, width, height) => {
  const comb = honeycomb(count, width, height);
  const places = Array.from({ length: count }, (_, i) => comb.at(i));
  expect(Math.max(...places.map(({ x }) => x)) + comb.width).toBeLessThanOrEqual(width + 1e-6);
  expect(Math.max(...places.map(({ y }) => y)) + comb.height).toBeLessThanOrEqual(height + 1e-6);
  expect(comb.totalWidth).toBeLessThanOrEqual(width + 1e-6);
  expect(comb.totalHeight).toBeLessThanOrEqual(height + 1e-6);
  expect(new Set(places.map(({ x, y }) => `${x} ${y}`)).size).toBe(count);
});

test("few cells have the largest size, and very many the smallest", () => {
  expect(honeycomb(3, 660, 480).width).toBe(LARGEST_CELL);
  expect(honeycomb(20_000, 660, 480).width).toBe(SMALLEST_CELL);
  expect(honeycomb(20_000, 660, 480).totalHeight).toBeGreaterThan(480);
});

test("rows differ in length as little as possible", () => {
  const comb = honeycomb(8, 900, 320);
  expect([3, 4].map((i) => comb.at(i).y > 0)).toEqual([false, true]);
});

test("every other row is shifted by half a cell, and rows are three quarters of a cell apart", () => {
  const comb = honeycomb(8, 900, 320);
  expect(comb.at(4).x).toBeCloseTo(comb.width / 2);
  expect(comb.at(4).y).toBeCloseTo(comb.height * 0.75);
});

test("no cells need no height", () => expect(honeycomb(0, 660, 480).totalHeight).toBe(0));
