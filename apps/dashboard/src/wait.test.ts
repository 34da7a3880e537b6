import { expect, test } from "vitest";
import { use } from "../test/support/pretend-observer.ts";
import { waitOf } from "./wait.ts";

test.each([
  ["nothing waits", { waiting: [0], used: [60], waitedMs: 9 }, 90_000, 0],
  ["the queue at the pace of a window", { waiting: [5], used: [60] }, 90_000, 5_000],
  ["at the pace of its share, when that is faster", { waiting: [5], used: [1], share: [120] }, 90_000, 2_500],
  ["where nothing is limited", { waiting: [5], used: [60], share: [Infinity] }, 90_000, 5_000],
  ["at the pace of a life that is shorter", { waiting: [5], used: [60] }, 6_000, 500],
  [
    "nothing went yet: as long as something has been waiting",
    { waiting: [5], used: [0], share: [0], waitedMs: 700 },
    90_000,
    700,
  ],
])("%s", (_, change, upMs, expected) => {
  expect(waitOf(use("a", change), 0, 60_000, upMs)).toBe(expected);
});

test("calls under way have no window: as long as something has been waiting", () => {
  expect(waitOf(use("a", { waiting: [5], used: [2], share: [2], waitedMs: 700 }), 0, 0, 90_000)).toBe(700);
});
