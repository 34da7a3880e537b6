import { expect, test } from "vitest";
import { attributeExternalUsage, countExternalUsage } from "./external-usage.ts";
import { step } from "./step.ts";
import { quotaIn, testAgent, testSwarm } from "./test-agents.ts";

test("usage that an answer shows counts at once, and is not counted again when agents report it", () => {
  const agent = testAgent();
  const quota = quotaIn(agent);
  countExternalUsage(agent, quota, [50], 1_000);
  countExternalUsage(agent, quota, [10], 1_500);
  expect(quota.usage.swarm.sum).toEqual([60]);
  attributeExternalUsage(quota, [55], 2_000);
  expect(quota.usage.swarm.sum).toEqual([5]);
  attributeExternalUsage(quota, [55], 2_100);
  expect(quota.usage.swarm.sum).toEqual([0]);
});

test("usage that no agent reports in time is external, and stays", () => {
  const agent = testAgent();
  const quota = quotaIn(agent);
  countExternalUsage(agent, quota, [50], 1_000);
  attributeExternalUsage(quota, [20], 3_500);
  expect(quota.usage.swarm.sum).toEqual([50]);
  expect(quota.usage.external).toEqual([]);
  quota.usage.swarm.expire(62_000);
  expect(quota.usage.swarm.sum).toEqual([0]);
});

test("a report after the answer is recognised, and only as much as it explains", () => {
  const swarm = testSwarm(2);
  const [first, second] = swarm.agents as [ReturnType<typeof testAgent>, ReturnType<typeof testAgent>];
  for (let i = 0; i < 9; i++) expect(swarm.take(second, 1)).toBe(true);
  countExternalUsage(first, quotaIn(first), [29], swarm.now);
  swarm.pass(2_000);
  expect(quotaIn(first).usage.swarm.sum).toEqual([29]);
  expect(quotaIn(second).usage.swarm.sum).toEqual([9]);
});

test("usage above the estimate is not counted twice when an answer showed it first", () => {
  const agent = testAgent("a", { hasBus: false });
  const quota = quotaIn(agent);
  step(agent, { type: "take", quota: "p", cost: [60] }, 1_000);
  countExternalUsage(agent, quota, [100], 2_000);
  step(agent, { type: "settle", quota: "p", more: [40], sentAt: 1_000 }, 2_001);
  expect(quota.usage.swarm.sum).toEqual([160]);
  expect(quota.usage.own.sum).toEqual([100]);
});
