import { expect, test } from "vitest";
import { datedLike } from "./dated-usage.ts";
import { UsageWindow } from "./usage-window.ts";

const WINDOW_MS = 60_000;
const NOW = 100_000;

function windowOf(...usage: readonly (readonly [number, ...number[]])[]): UsageWindow {
  const window = new UsageWindow(2, WINDOW_MS);
  for (const [time, ...amounts] of usage) window.add(time, amounts);
  return window;
}

const sumOf = (dated: ReturnType<typeof datedLike>, i = 0) =>
  dated.reduce((sum, { amounts }) => sum + (amounts[i] ?? 0), 0);

test("amounts are distributed as the usage of the window, from the youngest edge of each bin on", () => {
  const like = windowOf([NOW - 50_250, 30, 0], [NOW - 250, 10, 0]);
  expect(datedLike(like, [0], [20], NOW)).toEqual([
    { at: NOW, amounts: [5] },
    { at: NOW - 50_000, amounts: [15] },
  ]);
});

test("amounts that the window does not have count from now on", () => {
  const like = windowOf([NOW - 30_250, 10, 0]);
  expect(datedLike(like, [0], [25], NOW)).toEqual([
    { at: NOW, amounts: [15] },
    { at: NOW - 30_000, amounts: [10] },
  ]);
  expect(datedLike(windowOf(), [0], [25], NOW)).toEqual([{ at: NOW, amounts: [25] }]);
  expect(datedLike(like, [-1], [25], NOW)).toEqual([{ at: NOW, amounts: [25] }]);
});

test("dimensions are independent, and found by their indices", () => {
  const like = windowOf([NOW - 40_250, 1, 100], [NOW - 10_250, 1, 300]);
  expect(datedLike(like, [1, 0], [200, 2], NOW)).toEqual([
    { at: NOW - 10_000, amounts: [150, 1] },
    { at: NOW - 40_000, amounts: [50, 1] },
  ]);
});

test("usage that is known already is no part of the distribution", () => {
  const like = windowOf([NOW - 40_250, 20, 0], [NOW - 10_250, 20, 0]);
  const known = windowOf([NOW - 40_250, 20, 0]);
  expect(datedLike(like, [0], [20], NOW, known)).toEqual([{ at: NOW - 10_000, amounts: [20] }]);
});

test("usage that has left the window is no part of the distribution, and nothing is lost", () => {
  const like = windowOf([NOW - WINDOW_MS - 1_000, 50, 0], [NOW - 20_250, 3, 0], [NOW - 5_250, 4, 0]);
  for (const amount of [0.5, 1, 7, 30]) {
    const dated = datedLike(like, [0], [amount], NOW);
    expect(sumOf(dated)).toBeCloseTo(amount, 9);
    for (const { at } of dated) expect(at).toBeGreaterThan(NOW - WINDOW_MS);
  }
});
