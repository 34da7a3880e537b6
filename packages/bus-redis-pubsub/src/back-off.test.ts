import { expect, test } from "vitest";
import { backOffMs } from "./back-off.ts";

test.each([
  { failures: 0, random: 0, ms: 25 },
  { failures: 0, random: 1, ms: 50 },
  { failures: 1, random: 1, ms: 100 },
  { failures: 5, random: 1, ms: 1_600 },
  { failures: 6, random: 0, ms: 1_000 },
  { failures: 6, random: 1, ms: 2_000 },
  { failures: 10_000, random: 1, ms: 2_000 },
])("after $failures failures the next attempt waits $ms ms (random $random)", ({ failures, random, ms }) => {
  expect(backOffMs(failures, random)).toBe(ms);
});
