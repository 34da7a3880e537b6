import { expect, test } from "vitest";
import { levelAt } from "./level.ts";
import { quotaIn, rules, type TestSwarm, testSwarm } from "./test-agents.ts";

const measured = { rules: { ...rules, isMeasured: true } };

/** Sends this number of calls in each of the next seconds. */
function send(swarm: TestSwarm, perSecond: number, seconds: number): void {
  const [agent] = swarm.agents;
  for (let second = 0; second < seconds; second++) {
    for (let i = 0; i < perSecond; i++) if (agent) swarm.take(agent, 1);
    swarm.pass(1_000);
  }
}

function refuse(swarm: TestSwarm, retryAfterMs?: number): number {
  const [agent] = swarm.agents;
  if (!agent) throw new Error("no agent");
  const refused = { sentAt: swarm.now, retryAfterMs, reason: "429" };
  swarm.do(agent, { type: "refused", quota: "p", refused });
  return levelOf(swarm);
}

function levelOf(swarm: TestSwarm): number {
  const [agent] = swarm.agents;
  return agent ? levelAt(quotaIn(agent).backoff.level, swarm.now) : NaN;
}

test("a refusal cuts to a little below what was accepted before it", () => {
  const swarm = testSwarm(1, {}, measured);
  send(swarm, 15, 70);
  expect(refuse(swarm)).toBeCloseTo(0.97 * 0.9, 1);
  swarm.pass(10_000);
  expect(levelOf(swarm)).toBeCloseTo(0.99 * 0.9, 1);
  swarm.pass(20_000);
  expect(levelOf(swarm)).toBe(1);
});

test("refusals of the very next calls cut further each time, and pause for longer", () => {
  const swarm = testSwarm(1, {}, measured);
  send(swarm, 15, 70);
  const levels = [refuse(swarm)];
  const pauses = [quotaIn(swarm.agents[0] as never).backoff.level.pauseMs];
  for (let i = 0; i < 3; i++) {
    swarm.pass(pauses.at(-1) as number);
    levels.push(refuse(swarm));
    pauses.push(quotaIn(swarm.agents[0] as never).backoff.level.pauseMs);
  }
  const [first = 0, second = 0, third = 0, fourth = 0] = levels;
  expect([second / first, third / second, fourth / third].map((part) => Number(part.toFixed(2)))).toEqual([
    0.83, 0.7, 0.5,
  ]);
  expect(pauses).toEqual([500, 1_000, 2_000, 4_000]);
});

test("a first refusal at little usage leaves half", () => {
  const swarm = testSwarm(1, {}, measured);
  send(swarm, 1, 30);
  expect(refuse(swarm)).toBe(0.5);
});

test("the level does not climb before the window has emptied to it, nor in the pause that was asked for", () => {
  const swarm = testSwarm(1, {}, measured);
  send(swarm, 15, 70);
  const cut = refuse(swarm, 30_000);
  swarm.pass(29_000);
  expect(levelOf(swarm)).toBe(cut);
  swarm.pass(4_000);
  expect(levelOf(swarm)).toBeGreaterThan(cut);
});

test("pauses and probes scale with the window", () => {
  const hour = testSwarm(1, {}, { ...measured, windowMs: 3_600_000 });
  refuse(hour);
  const { pauseMs, climb } = quotaIn(hour.agents[0] as never).backoff.level;
  expect(pauseMs).toBe(30_000);
  expect(climb).toMatchObject({ climbMs: 300_000, growMs: 540_000 });
});

test("a call larger than the last good level is sent within a window", () => {
  const swarm = testSwarm(1, {}, measured);
  refuse(swarm);
  const [agent] = swarm.agents as [never];
  swarm.want(agent, [800]);
  let waitedMs = 0;
  while (!swarm.take(agent, 800) && waitedMs < 120_000) {
    swarm.pass(1_000);
    waitedMs += 1_000;
  }
  expect(waitedMs).toBeLessThan(60_000);
});

test("calls that came during the pause are sent at the steady pace, although none of them has waited for long", () => {
  const swarm = testSwarm(1, {}, measured);
  const [agent] = swarm.agents;
  if (!agent) throw new Error("no agent");
  for (let second = 0; second < 10; second++) {
    for (let i = 0; i < 24; i++) swarm.take(agent, 1);
    swarm.pass(1_000);
  }
  refuse(swarm);
  const { climb } = quotaIn(agent).backoff.level;
  swarm.pass((climb?.holdMs ?? 0) + 50);
  let sent = 0;
  while (sent < 100 && swarm.take(agent, 1)) sent++;
  expect(sent).toBeLessThanOrEqual(3);
});
