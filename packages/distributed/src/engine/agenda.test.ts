import { expect, test } from "vitest";
import { Timetable } from "./agenda.ts";
import { violatedInvariant } from "./invariants.ts";
import { newQuota, type Quota } from "./quota.ts";
import { quotaIn, rules, type TestSwarm, testSwarm, WINDOW_MS, word } from "./test-agents.ts";

const MANY = 50;

/** Two agents that share many quotas, from `q0` on, besides `p`. */
function swarmOfMany(): TestSwarm {
  const swarm = testSwarm(2);
  for (const agent of swarm.agents)
    for (let i = 0; i < MANY; i++)
      swarm.do(agent, { type: "configure", config: { name: `q${i}`, limits: [100], windowMs: WINDOW_MS, rules } });
  swarm.pass(5_000);
  return swarm;
}

/** Makes every visit of a quota fail. */
function forbidVisits(quota: Quota): void {
  quota.usage.swarm.expire = () => {
    throw new Error(`${quota.config.name} was visited`);
  };
}

test("events visit only the quotas that they concern", () => {
  const swarm = swarmOfMany();
  const [agent] = swarm.agents as [never];
  const { quotas, membership } = agent as TestSwarm["agents"][number];
  swarm.do(agent, { type: "want", quota: "q1", next: [100] });
  for (const quota of quotas.values()) if (quota !== quotaIn(agent)) forbidVisits(quota);
  const { seq = 0 } = [...membership.peers.values()][0] ?? {};
  swarm.do(agent, {
    type: "receive",
    message: word("agent-1", seq + 1, {}, { spentTotal: [7], used: [7], bins: [[7]] }),
  });
  expect(quotaIn(agent).usage.swarm.sum).toEqual([7]);
  swarm.do(agent, { type: "want", quota: "p", next: [10] });
  swarm.do(agent, { type: "want", quota: "p", next: undefined });
  swarm.do(agent, { type: "refused", quota: "p", refused: { sentAt: swarm.now, reason: "429" } });
  expect(quotaIn(agent).backoff.level.epoch).toBe(1);
});

test("waiting calls of many quotas are served, each when its claim is due", () => {
  const swarm = swarmOfMany();
  const [agent] = swarm.agents as [never];
  const waiting = new Set(Array.from({ length: MANY }, (_, i) => `q${i}`));
  for (const quota of waiting) swarm.do(agent, { type: "want", quota, next: [90] });
  let visits = 0;
  for (const end = swarm.now + 5_000; swarm.now < end && waiting.size > 0; swarm.pass(50)) {
    for (const quota of swarm.do(agent, { type: "wake" }).retry) {
      visits++;
      if (!swarm.do(agent, { type: "take", quota, cost: [90] }).taken) continue;
      waiting.delete(quota);
      swarm.do(agent, { type: "want", quota, next: undefined });
    }
  }
  expect([...waiting]).toEqual([]);
  expect(visits).toBeLessThan(3 * MANY);
});

test("a call waits for the usage of its own quota to leave the window", () => {
  const swarm = swarmOfMany();
  const [agent] = swarm.agents as [never];
  swarm.do(agent, { type: "settle", quota: "q7", more: [100], sentAt: swarm.now });
  const usedAt = swarm.now;
  swarm.do(agent, { type: "want", quota: "q7", next: [50] });
  let servedAt: number | undefined;
  while (servedAt === undefined && swarm.now < usedAt + 2 * WINDOW_MS) {
    swarm.pass(50);
    if (swarm.do(agent, { type: "wake" }).retry.includes("q7")) servedAt = swarm.now;
  }
  expect(servedAt).toBeGreaterThan(usedAt + WINDOW_MS);
  expect(servedAt).toBeLessThan(usedAt + WINDOW_MS + 1_000);
});

test("the agenda agrees with its quotas after every event", () => {
  const swarm = swarmOfMany();
  const [agent] = swarm.agents as [never];
  const check = (event: Parameters<TestSwarm["do"]>[1]) => {
    const effects = swarm.do(agent, event);
    expect(violatedInvariant(agent, event, effects, { claims: true, agreement: false }, swarm.now)).toBeUndefined();
  };
  check({ type: "want", quota: "q3", next: [60] });
  check({ type: "take", quota: "q4", cost: [1] });
  check({ type: "configure", config: { name: "q3", limits: [100], windowMs: 2 * WINDOW_MS, rules } });
  check({ type: "remove", quota: "q5" });
  check({ type: "wake" });
  check({ type: "want", quota: "q3", next: undefined });
  quotaIn(agent).demand.next = [1];
  expect(
    violatedInvariant(
      agent,
      { type: "wake" },
      swarm.do(swarm.agents[1] as never, { type: "wake" }),
      { claims: false, agreement: false },
      swarm.now,
    ),
  ).toBe("the agenda agrees with its quotas");
});

test("a timetable returns what is due, earliest first", () => {
  const [a, b, c] = [1, 2, 3].map(() => newQuota({ name: "p", limits: [1], windowMs: 1, rules }, 0)) as [
    Quota,
    Quota,
    Quota,
  ];
  const timetable = new Timetable();
  timetable.set(a, 30);
  timetable.set(b, 10);
  timetable.set(c, 20);
  timetable.set(a, 5);
  timetable.set(c, Infinity);
  expect([timetable.next, timetable.timeOf(c)]).toEqual([5, Infinity]);
  expect(timetable.due(10)).toEqual([a, b]);
  expect(timetable.takeDue(9)).toEqual([a]);
  expect([timetable.next, timetable.timeOf(a)]).toEqual([10, Infinity]);
});
