import { expect, test } from "vitest";
import { seededRandom } from "./seeded-random.ts";

const numbers = (seed: number, count: number) => {
  const random = seededRandom(seed);
  return Array.from({ length: count }, random);
};

test("equal seeds give equal numbers, different seeds different ones", () => {
  expect(numbers(7, 100)).toEqual(numbers(7, 100));
  expect(numbers(7, 100)).not.toEqual(numbers(8, 100));
});

test("the numbers are uniform between 0 and 1", () => {
  const tenths = Array.from({ length: 10 }, () => 0);
  for (const number of numbers(1, 10_000)) tenths[Math.floor(number * 10)] = (tenths[Math.floor(number * 10)] ?? 0) + 1;
  for (const count of tenths) expect(Math.abs(count - 1_000)).toBeLessThan(150);
});
