import { expect, test } from "vitest";
import { recognise, usedElsewhere } from "./elsewhere.ts";
import { step } from "./step.ts";
import { poolIn, testAgent, testSwarm } from "./test-agents.ts";

test("what an answer shows is gone at once; what others then say of it is not counted again", () => {
  const agent = testAgent();
  const pool = poolIn(agent);
  usedElsewhere(agent, pool, [50], 1_000);
  usedElsewhere(agent, pool, [10], 1_500);
  expect(pool.used.sum).toEqual([60]);
  recognise(pool, [55], 2_000);
  expect(pool.used.sum).toEqual([5]);
  recognise(pool, [55], 2_100);
  expect(pool.used.sum).toEqual([0]);
});

test("what nobody has said after a while was someone else, and stays", () => {
  const agent = testAgent();
  const pool = poolIn(agent);
  usedElsewhere(agent, pool, [50], 1_000);
  recognise(pool, [20], 3_500);
  expect(pool.used.sum).toEqual([50]);
  expect(pool.elsewhere).toEqual([]);
  pool.used.expire(62_000);
  expect(pool.used.sum).toEqual([0]);
});

test("a report that comes after the answer is recognised, and only its own part", () => {
  const swarm = testSwarm(2);
  const [first, second] = swarm.agents as [ReturnType<typeof testAgent>, ReturnType<typeof testAgent>];
  for (let i = 0; i < 9; i++) expect(swarm.take(second, 1)).toBe(true);
  usedElsewhere(first, poolIn(first), [29], swarm.now);
  swarm.pass(2_000);
  expect(poolIn(first).used.sum).toEqual([29]);
  expect(poolIn(second).used.sum).toEqual([9]);
});

test("a call that used more than was thought is not counted twice when its answer showed it first", () => {
  const agent = testAgent("a", { hasBus: false });
  const pool = poolIn(agent);
  step(agent, { type: "take", pool: "p", cost: [60] }, 1_000);
  usedElsewhere(agent, pool, [100], 2_000);
  step(agent, { type: "settle", pool: "p", more: [40], sentAt: 1_000 }, 2_001);
  expect(pool.used.sum).toEqual([160]);
  expect(pool.own.sum).toEqual([100]);
});
