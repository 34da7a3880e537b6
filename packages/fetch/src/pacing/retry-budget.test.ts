import { expect, test } from "vitest";
import { RetryBudgets } from "./retry-budget.ts";

/** Retries that are allowed while a part of all sendings, first or repeated, is overloaded. */
function retriesAt(part: number, calls: number): number {
  const budgets = new RetryBudgets();
  let random = 1;
  const isOverloaded = (): boolean => {
    random = (random * 48_271) % 2_147_483_647;
    return random / 2_147_483_647 < part;
  };
  let retries = 0;
  for (let call = 0; call < calls; call++)
    for (let tries = 0; ; tries++) {
      if (!isOverloaded()) {
        budgets.succeeded("eu", "a", tries > 0);
        break;
      }
      if (tries >= 4 || !budgets.take("eu", "a")) break;
      retries++;
    }
  return retries;
}

test("sporadic overload never uses the budget up: every overloaded call is sent again", () => {
  expect(retriesAt(0.02, 10_000)).toBeGreaterThanOrEqual(150);
  expect(retriesAt(0.02, 10_000)).toBeLessThanOrEqual(300);
});

test("while everything is overloaded only the reserve is sent again", () => {
  expect(retriesAt(1, 10_000)).toBe(100);
});

test("each model of each endpoint has a budget of its own", () => {
  const budgets = new RetryBudgets();
  while (budgets.take("eu", "a"));
  expect([budgets.take("us", "a"), budgets.take("eu", "b"), budgets.take("eu", undefined)]).toEqual([true, true, true]);
  expect(budgets.take("eu", "a")).toBe(false);
});
