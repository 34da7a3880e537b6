import { seededRandom } from "@hivepace/core/testing";
import { expect, test } from "vitest";
import { shuffled } from "./random.ts";

test("the same seed gives the same order, another seed another", () => {
  const items = Array.from({ length: 20 }, (_, i) => i);
  expect(shuffled(items, seededRandom(7))).toEqual(shuffled(items, seededRandom(7)));
  expect(shuffled(items, seededRandom(7))).not.toEqual(shuffled(items, seededRandom(8)));
});

test("a shuffle keeps every item and leaves the original alone", () => {
  const items = ["a", "b", "c", "d"];
  expect(shuffled(items, seededRandom(1)).sort()).toEqual(["a", "b", "c", "d"]);
  expect(items).toEqual(["a", "b", "c", "d"]);
});

test("over many rounds every contender comes first about equally often", () => {
  const random = seededRandom(3);
  const first = { a: 0, b: 0, c: 0 };
  for (let round = 0; round < 3_000; round++) first[shuffled(["a", "b", "c"] as const, random)[0] as "a" | "b" | "c"]++;
  for (const times of Object.values(first)) expect(Math.abs(times - 1_000)).toBeLessThan(100);
});
