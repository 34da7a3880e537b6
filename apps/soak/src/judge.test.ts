import { describe, expect, test } from "vitest";
import { judge, NOTHING, type Series, trendOf } from "./judge.ts";

const MB = 1_000_000;
const HEAP = { part: 0.1, amount: MB };
const heap = (...mb: number[]): Series => ({ name: "heap", values: mb.map((one) => one * MB), allowance: HEAP });
const count = (...values: number[]): Series => ({ name: "count", values, allowance: NOTHING });

describe("grows", () => {
  test.each([
    ["a slow leak of memory", heap(20, 22, 22.6, 23.1, 23.8, 24.4, 25)],
    ["a leak of memory in noise", heap(20, 22, 24, 22.7, 24.5, 23.6, 25.6, 24.8, 27, 26)],
    ["a leak of memory in the fewest rounds", heap(9, 9.1, 10.6, 12.1)],
    ["one listener in every round", count(3, 4, 5, 6)],
    ["one listener in every third round", count(3, 3, 3, 4, 4, 4, 5, 5, 5, 6)],
    ["occasional handles among transient ones", count(5, 7, 5, 8, 6, 9, 6, 7, 9, 7)],
  ])("%s", (_, series) => {
    expect(trendOf(series).grows).toBe(true);
  });
});

describe("does not grow", () => {
  test.each([
    ["a steady count", count(4, 4, 4, 4)],
    ["steady noise", heap(20, 21, 20.2, 21.5, 20.4, 21.1, 20.3, 21.3, 20.2)],
    ["noise without memory's allowance", count(5, 7, 5, 6, 5, 7, 6, 5, 8, 5)],
    ["a resource opened once, in the first round", heap(9, 14, 14.1, 14, 14.2)],
    ["a step that comes once, late", count(4, 4, 4, 4, 4, 4, 5)],
    ["a step that comes once, in the middle", heap(20, 20, 20.1, 20, 24, 24.1, 24, 24.1, 24, 24.1)],
    ["one high value", count(4, 4, 4, 4, 9, 4, 4)],
    ["a high value at the end", heap(20, 20, 20, 20, 20, 20, 40)],
    ["growth within the absolute allowance", heap(20, 20, 20.3, 20.6, 20.9)],
    ["growth within the relative allowance", heap(100, 100, 103, 106, 109)],
    ["a falling series", heap(30, 29, 27, 25, 23)],
    ["a series of zeros", count(0, 0, 0, 0)],
  ])("%s", (_, series) => {
    expect(trendOf(series).grows).toBe(false);
  });
});

test("a trend has the minimum of each third after the warm-up, and the allowance", () => {
  expect(trendOf(heap(50, 20, 21, 24, 22, 23, 25, 26, 24))).toMatchObject({
    least: [20 * MB, 22 * MB, 24 * MB],
    allowed: 2 * MB,
    grows: true,
  });
});

test("too few rounds are an error", () => {
  expect(() => trendOf(count(1, 2, 3))).toThrow("count needs 4 rounds to show a trend, not 3");
});

test("a verdict names growing and remaining resources, with the figures", () => {
  const steady = { ...count(2, 2, 2, 2), name: "agent-0 listeners" };
  const leak = { ...count(2, 3, 4, 5), name: "agent-1 listeners" };
  const verdict = judge(
    [steady, leak],
    [
      { name: "keys without an end", count: 1, which: ["soak:forgotten"] },
      { name: "connections", count: 0, which: [] },
      { name: "folders", count: 7, which: ["a", "b", "c", "d", "e", "f", "g"] },
    ],
  );
  expect(verdict.trends.map(({ name, grows }) => [name, grows])).toEqual([
    ["agent-0 listeners", false],
    ["agent-1 listeners", true],
  ]);
  expect(verdict.failures).toEqual([
    "agent-1 listeners grows: minimum of each third 3, 4, 5; allowed growth 0 (by round: 2 3 4 5)",
    "keys without an end: 1 left (soak:forgotten)",
    "folders: 7 left (a, b, c, d, e, …)",
  ]);
});

test("without growth and remains there are no failures", () => {
  expect(judge([count(1, 1, 1, 1)], [{ name: "keys", count: 0 }]).failures).toEqual([]);
});
