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
  for (let call = 0; call < calls; call++) {
    budgets.began("eu", "a");
    for (let tries = 0; ; tries++) {
      if (!isOverloaded()) {
        budgets.succeeded("eu", "a");
        break;
      }
      if (tries >= 4 || !budgets.take("eu", "a")) break;
      retries++;
    }
  }
  return retries;
}

test("sporadic overload never uses the budget up: every overloaded call is sent again", () => {
  expect(retriesAt(0.02, 10_000)).toBeGreaterThanOrEqual(150);
  expect(retriesAt(0.02, 10_000)).toBeLessThanOrEqual(300);
});

test("while everything is overloaded the reserve is sent again, and what the first calls have earned", () => {
  expect(retriesAt(1, 10_000)).toBeLessThanOrEqual(150);
});

test("while most answers are overload, a call is sent again as often as by an SDK without a budget", () => {
  for (const part of [0.5, 0.7, 0.9]) {
    const perCall = retriesAt(part, 10_000) / 10_000;
    expect(perCall).toBeGreaterThanOrEqual(0.98 * (part + part ** 2));
    expect(perCall).toBeLessThanOrEqual(2.1);
  }
});

test("each model of each endpoint has a budget of its own", () => {
  const budgets = new RetryBudgets();
  while (budgets.take("eu", "a"));
  expect([budgets.take("us", "a"), budgets.take("eu", "b"), budgets.take("eu", undefined)]).toEqual([true, true, true]);
  expect(budgets.take("eu", "a")).toBe(false);
});
