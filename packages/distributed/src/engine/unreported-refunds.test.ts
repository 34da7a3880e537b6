import { expect, test } from "vitest";
import { MOST_REFUNDS, UnreportedRefunds } from "./unreported-refunds.ts";

test("each refund is reported once, with the age of its call", () => {
  const refunds = new UnreportedRefunds();
  refunds.add(2_000, [1, 30]);
  refunds.add(1_000, [0, 20]);
  expect(refunds.take(5_000)).toEqual([
    { ageMs: 4_000, amounts: [0, 20] },
    { ageMs: 3_000, amounts: [1, 30] },
  ]);
  expect(refunds.take(6_000)).toEqual([]);
});

test("many refunds become few, with the same sum, each as old as its earliest call", () => {
  const refunds = new UnreportedRefunds();
  for (let i = 0; i < 100; i++) refunds.add(i * 10, [1]);
  const reported = refunds.take(2_000);
  expect(reported).toHaveLength(MOST_REFUNDS);
  expect(reported.reduce((sum, { amounts: [amount = 0] }) => sum + amount, 0)).toBe(100);
  expect(reported[0]?.ageMs).toBe(2_000);
});
