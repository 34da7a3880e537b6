import { expect, test } from "vitest";
import { Refusals } from "./refusals.ts";

test("the longer of two waits counts, each model has its own, and one for all models applies to each", () => {
  const refusals = new Refusals();
  refusals.add("eu", "a", 500, 0);
  refusals.add("eu", "a", 300, 0);
  expect(refusals.remainingMs("eu", "a", 100)).toBe(400);
  expect(refusals.remainingMs("eu", "b", 100)).toBe(0);
  expect(refusals.remainingMs("eu", undefined, 100)).toBe(0);
  refusals.add("eu", undefined, 900, 100);
  expect(refusals.remainingMs("eu", "a", 100)).toBe(800);
  expect(refusals.remainingMs("eu", "b", 100)).toBe(800);
  expect(refusals.remainingMs("us", "a", 100)).toBe(0);
});

test("an expired wait is forgotten", () => {
  const refusals = new Refusals();
  for (let i = 0; i < 10_000; i++) refusals.add(`e${i}`, undefined, i + 10, i);
  expect(refusals.size).toBeLessThanOrEqual(10);
  expect(refusals.remainingMs("e9999", undefined, 20_000)).toBe(0);
});
