import { expect, test } from "vitest";
import { paceMs } from "./pace.ts";

test.each([
  { failures: 0, random: 0, ms: 900 },
  { failures: 0, random: 0.5, ms: 1_000 },
  { failures: 0, random: 1, ms: 1_100 },
  { failures: 1, random: 0, ms: 500 },
  { failures: 1, random: 1, ms: 1_000 },
  { failures: 2, random: 1, ms: 2_000 },
  { failures: 4, random: 1, ms: 8_000 },
  { failures: 5, random: 0, ms: 5_000 },
  { failures: 5, random: 1, ms: 10_000 },
  { failures: 5_000, random: 1, ms: 10_000 },
])("after $failures failures the next sync comes in $ms ms (random $random)", ({ failures, random, ms }) => {
  expect(paceMs(1_000, failures, random)).toBeCloseTo(ms, 9);
});

test("a long interval is no shorter after failures than half of itself", () => {
  expect(paceMs(60_000, 1, 0)).toBe(30_000);
  expect(paceMs(60_000, 9, 1)).toBe(60_000);
});
