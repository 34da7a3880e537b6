import { seededRandom } from "@hivepace/core/testing";
import { expect, test } from "vitest";
import { callsPerSecond, meanTokens, TASK_CALLS, tokenSizes, workersFor } from "./demand.ts";
import { planOf } from "./plan.ts";
import { scenarioNames } from "./scenarios.ts";

const plan = (seed: number) =>
  planOf({ agents: 8, rpm: undefined, tpm: undefined, scenario: "cut", duration: 40, seed });
const indices = [0, 1, 2, 3, 4, 5, 6, 7];

test("the same seed makes the same demand, another seed another", () => {
  const demandOf = (seed: number) => indices.map((agent) => callsPerSecond(plan(seed), agent, 9_000));
  expect(demandOf(1)).toEqual(demandOf(1));
  expect(demandOf(1)).not.toEqual(demandOf(2));
});

test("total demand matches the scenario, varies over time, and is largest at the first agent", () => {
  const one = plan(1);
  const times = Array.from({ length: 40 }, (_, i) => i * 9_000);
  const mean = (agent: number) => times.reduce((sum, at) => sum + callsPerSecond(one, agent, at), 0) / times.length;
  const all = indices.reduce((sum, agent) => sum + mean(agent), 0);
  const limit = Math.min(one.rpm, one.tpm / meanTokens(one.medianTokens, one.mostTokens)) / (one.windowMs / 1_000);
  expect(all / limit).toBeGreaterThan(1.2);
  expect(all / limit).toBeLessThan(1.8);
  expect(mean(0)).toBeGreaterThan(2 * mean(7));
  expect(new Set(times.map((at) => callsPerSecond(one, 0, at))).size).toBeGreaterThan(5);
});

test("an agent that joins later has the demand of an initial agent", () => {
  expect(callsPerSecond(plan(1), 8, 0)).toBeGreaterThan(0);
});

test("an agent runs the number of concurrent tasks that its demand needs, at least one", () => {
  expect([0, 0.1, 0.5, 1, 1_000].map(workersFor)).toEqual([1, 1, 2, 4, 64]);
  expect(TASK_CALLS).toBe(20);
});

test("call sizes have the requested median and never exceed the maximum", () => {
  const size = tokenSizes(seededRandom(1), 1_500, 20_000);
  const sizes = Array.from({ length: 10_001 }, size).sort((a, b) => a - b);
  expect(sizes[5_000]).toBeGreaterThan(1_400);
  expect(sizes[5_000]).toBeLessThan(1_600);
  expect(sizes.at(-1)).toBeLessThanOrEqual(20_000);
  expect(sizes[9_900]).toBeGreaterThan(8_000);
});

test.each(scenarioNames)("%s: a plan exists for one agent and for many, at any limit", (scenario) => {
  for (const agents of [1, 64])
    for (const rpm of [10, 6_000]) {
      const one = planOf({ agents, rpm, tpm: undefined, scenario, duration: 10, seed: 1 });
      expect(one.margin).toBeGreaterThan(0.8);
      expect(callsPerSecond(one, agents - 1, 0)).toBeGreaterThan(0);
    }
});
