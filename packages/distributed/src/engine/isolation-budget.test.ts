import { expect, test } from "vitest";
import { UNLIMITED } from "./dimensions.ts";
import { claimOfBudget, isolationLimit, isolationRetryAt } from "./isolation-budget.ts";
import { isolated } from "./modes/isolated.ts";
import { CAUTION } from "./silence.ts";
import { quotaIn, testAgent } from "./test-agents.ts";

/** Returns the number of calls that each of a hundred agents sends at once when isolated with this budget. */
function sent(kept: number, cost: number): number[] {
  return Array.from({ length: 100 }, (_, i) => {
    const agent = testAgent(`agent-${i}`, { isolation: "available" });
    const quota = quotaIn(agent);
    quota.isolation.budget = { since: 0, isAgreed: true, from: [kept], to: [kept] };
    let count = 0;
    for (; isolated.permit(agent, quota, [cost], quota.limits, 1_000); count++) {
      expect(isolationRetryAt(agent, quota, [cost], 1_000)).toBe(1_000);
      quota.usage.own.add(1_000, [cost]);
    }
    expect(isolationRetryAt(agent, quota, [cost], 1_000)).toBeGreaterThan(1_000);
    return count;
  });
}

test.each([4.9, 9.9, 12.3])("a hundred agents with a budget of %d calls each send that many calls in total", (kept) => {
  const calls = sent(kept, 1);
  const most = kept * CAUTION;
  expect(new Set(calls)).toEqual(new Set([Math.floor(most), Math.ceil(most)]));
  const sum = calls.reduce((total, count) => total + count, 0);
  expect(Math.abs(sum - 100 * most)).toBeLessThanOrEqual(15);
});

test("calls of more than half of the budget are never rounded up", () => {
  expect(new Set(sent(10, 6))).toEqual(new Set([1]));
});

test("an isolated agent claims nothing of a dimension without a limit, for which all others would wait", () => {
  const agent = testAgent("a", {}, { limits: [1_000, UNLIMITED] });
  const quota = quotaIn(agent);
  quota.isolation.budget = { since: 0, isAgreed: true, from: [100, UNLIMITED / 10], to: [100, UNLIMITED / 10] };
  expect(claimOfBudget(agent, quota, 1_000).amounts).toEqual([expect.closeTo(100 * CAUTION), 0]);
});

test.each([
  [10, 98.5],
  [1, 1_000],
  [undefined, 1],
])("an agent that has never received anything and expects %s agents keeps to %d of 1,000", (expectedAgents, most) => {
  const agent = testAgent("a", { expectedAgents });
  expect(isolationLimit(agent, quotaIn(agent), 10_000)).toEqual([expect.closeTo(most)]);
});
