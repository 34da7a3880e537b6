import { expect, test } from "vitest";
import { hash32 } from "./hash.ts";

test("a text has the same hash for ever, because versions must choose alike for a session", () => {
  expect(hash32("eu")).toBe(100_709_070);
  expect(hash32("eu", 1)).not.toBe(hash32("eu"));
});

test("similar texts are spread evenly", () => {
  const tenths = new Array<number>(10).fill(0);
  for (let i = 0; i < 10_000; i++) {
    const tenth = Math.floor((hash32(`session-${i}`) / 2 ** 32) * 10);
    tenths[tenth] = (tenths[tenth] ?? 0) + 1;
  }
  for (const count of tenths) expect(Math.abs(count - 1_000)).toBeLessThan(150);
});
