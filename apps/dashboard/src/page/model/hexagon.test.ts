import { expect, test } from "vitest";
import { slice } from "./hexagon.ts";

/** The area by the shoelace formula. */
const area = (corners: ReturnType<typeof slice>) =>
  Math.abs(
    corners.reduce((sum, [x, y], i) => {
      const [nextX = 0, nextY = 0] = corners[(i + 1) % corners.length] ?? [];
      return sum + x * nextY - nextX * y;
    }, 0),
  ) / 2;

test("the area of a hexagon is three quarters of its bounding box", () => {
  expect(area(slice(80, 100, 0, 100))).toBeCloseTo(0.75 * 80 * 100);
});

test("two adjacent slices add up to the whole, wherever they meet", () => {
  for (const y of [1, 10, 25, 26, 50, 75, 90, 99]) {
    expect(area(slice(80, 100, 0, y)) + area(slice(80, 100, y, 100))).toBeCloseTo(6_000);
  }
});

test("a slice without height, or outside the hexagon, is empty", () => {
  expect(slice(80, 100, 50, 50)).toEqual([]);
  expect(slice(80, 100, 60, 40)).toEqual([]);
  expect(slice(80, 100, 100, 120)).toEqual([]);
  expect(area(slice(80, 100, -20, 120))).toBeCloseTo(6_000);
});
