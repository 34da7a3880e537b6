import { expect, test } from "vitest";
import { keptAt, keptWay } from "./kept.ts";
import { CAUTION } from "./silence.ts";
import { poolIn, testAgent } from "./test-agents.ts";

/** So many calls of this cost each of a hundred agents sends at once when it is cut off with so much. */
function sent(kept: number, cost: number): number[] {
  return Array.from({ length: 100 }, (_, i) => {
    const agent = testAgent(`agent-${i}`, { isolation: "available" });
    const pool = poolIn(agent);
    pool.kept = { since: 0, isAgreed: true, from: [kept], to: [kept] };
    let count = 0;
    for (; keptWay(agent, pool, [cost], 1_000); count++) {
      expect(keptAt(agent, pool, [cost], 1_000)).toBe(1_000);
      pool.own.add(1_000, [cost]);
    }
    expect(keptAt(agent, pool, [cost], 1_000)).toBeGreaterThan(1_000);
    return count;
  });
}

test.each([4.9, 9.9, 12.3])("a hundred who keep %d calls each send as many as that together", (kept) => {
  const calls = sent(kept, 1);
  const most = kept * CAUTION;
  expect(new Set(calls)).toEqual(new Set([Math.floor(most), Math.ceil(most)]));
  const sum = calls.reduce((total, count) => total + count, 0);
  expect(Math.abs(sum - 100 * most)).toBeLessThanOrEqual(15);
});

test("calls of more than half of what is kept are not rounded up by anyone", () => {
  expect(new Set(sent(10, 6))).toEqual(new Set([1]));
});
