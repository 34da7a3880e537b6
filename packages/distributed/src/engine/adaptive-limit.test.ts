import { describe, expect, test } from "vitest";
import { adaptiveLimitOf, cutLimit, growLimit, mergeLimit, noteAnswered } from "./adaptive-limit.ts";
import type { Agent } from "./agent.ts";
import type { Quota } from "./quota.ts";
import type { Slots } from "./slots.ts";
import { quotaIn, testAgent } from "./test-agents.ts";

const config = { limits: [20], dimensions: ["in_flight"], leaseMs: 60_000, adaptive: { min: 2, start: 10 } };

function adaptive(id = "a"): readonly [Agent, Quota] {
  const agent = testAgent(id, {}, config);
  return [agent, quotaIn(agent)];
}

/** Uses all slots, with demand waiting. */
function fill(quota: Quota): void {
  quota.usage.swarm.add(0, [adaptiveLimitOf(quota) - (quota.usage.swarm.sum[0] ?? 0)]);
  quota.demand.next = [1];
}

describe("an adaptive limit", () => {
  test("starts at its configured start", () => {
    expect(adaptiveLimitOf(adaptive()[1])).toBe(10);
  });

  test("grows by one slot at a time while it is the binding limit", () => {
    const [agent, quota] = adaptive();
    fill(quota);
    growLimit(agent, quota, 100_000);
    growLimit(agent, quota, 100_001);
    expect(adaptiveLimitOf(quota)).toBe(11);
    fill(quota);
    growLimit(agent, quota, 101_000);
    expect(adaptiveLimitOf(quota)).toBe(12);
  });

  test.each([
    ["nobody waits", (quota: Quota) => Object.assign(quota.demand, { next: undefined })],
    ["slots are free", (quota: Quota) => quota.usage.swarm.add(0, [-2])],
  ])("stays when %s", (_, change) => {
    const [agent, quota] = adaptive();
    fill(quota);
    change(quota);
    growLimit(agent, quota, 100_000);
    expect(adaptiveLimitOf(quota)).toBe(10);
  });

  test("is cut once per congestion, and never below its minimum", () => {
    const [agent, quota] = adaptive();
    cutLimit(agent, quota, 900, 1_000);
    expect(adaptiveLimitOf(quota)).toBe(8);
    // A call sent before the cut was known belongs to the same congestion.
    cutLimit(agent, quota, 950, 1_100);
    expect(adaptiveLimitOf(quota)).toBe(8);
    for (let i = 0; i < 50; i++) cutLimit(agent, quota, 2_000 + i, 2_000 + i);
    expect(adaptiveLimitOf(quota)).toBe(2);
  });

  test("is cut by one slot when few calls are refused, and stays below the refused limit for eight steps", () => {
    const [agent, quota] = adaptive();
    noteAnswered(quota.slots as Slots, 100);
    cutLimit(agent, quota, 900, 1_000);
    expect(adaptiveLimitOf(quota)).toBe(9);
    fill(quota);
    growLimit(agent, quota, 4_900);
    expect(adaptiveLimitOf(quota)).toBe(9);
    growLimit(agent, quota, 5_000);
    expect(adaptiveLimitOf(quota)).toBe(10);
  });

  test("ignores a rare refusal that growth has not caused, and grows again", () => {
    const [agent, quota] = adaptive();
    noteAnswered(quota.slots as Slots, 100);
    cutLimit(agent, quota, 900, 1_000);
    noteAnswered(quota.slots as Slots, 100);
    cutLimit(agent, quota, 1_100, 1_200);
    expect(adaptiveLimitOf(quota)).toBe(9);
    fill(quota);
    growLimit(agent, quota, 1_500);
    expect(adaptiveLimitOf(quota)).toBe(10);
  });

  test("never grows beyond its maximum", () => {
    const [agent, quota] = adaptive();
    for (let i = 1; i < 50; i++) {
      fill(quota);
      growLimit(agent, quota, 100_000 * i);
    }
    expect(adaptiveLimitOf(quota)).toBe(20);
  });

  test("is the same at all agents, in whatever order growth and cuts arrive", () => {
    const words = [
      { epoch: 0, base: 10, steps: 1, changedAt: 0 },
      { epoch: 0, base: 10, steps: 3, changedAt: 0 },
      { epoch: 1, base: 8, steps: 2, changedAt: 0 },
      { epoch: 1, base: 7, steps: 0, changedAt: 0 },
    ];
    const limits = [words, [...words].reverse(), [...words, ...words]].map((order) => {
      const [, quota] = adaptive();
      for (const word of order) mergeLimit(quota, word, 0);
      return adaptiveLimitOf(quota);
    });
    expect(limits).toEqual([7, 7, 7]);
  });

  test("a peer's number counts within this agent's bounds", () => {
    const [, quota] = adaptive();
    mergeLimit(quota, { epoch: 3, base: 1e15, steps: 0, changedAt: 0 }, 0);
    expect(adaptiveLimitOf(quota)).toBe(20);
    mergeLimit(quota, { epoch: 4, base: 1, steps: 0, changedAt: 0 }, 0);
    expect(adaptiveLimitOf(quota)).toBe(2);
  });
});
