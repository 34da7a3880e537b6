import { expect, test } from "vitest";
import type { Agent } from "./agent.ts";
import { step } from "./step.ts";
import { quotaIn, type TestSwarm, testSwarm, word } from "./test-agents.ts";

/** An idle swarm whose messages are rare, and in which some agents are cut off. */
function idleSwarm(count: number, cutOff: readonly number[]): TestSwarm {
  const swarm = testSwarm(count);
  swarm.pass(20_000);
  for (const i of cutOff) swarm.unreachable.add(swarm.agents[i] as Agent);
  return swarm;
}

/** Sends calls of 10 one after the other for this time. */
function sendFor(swarm: TestSwarm, agent: Agent, ms: number): number {
  let sent = 0;
  for (const end = swarm.now + ms; swarm.now < end; swarm.pass(50)) {
    while (swarm.take(agent, 10)) sent += 10;
    swarm.want(agent, [10], [2_000]);
  }
  return sent;
}

test("a claim of an idle swarm is served in full, because every peer shows that it can be reached", () => {
  const swarm = idleSwarm(4, []);
  expect(sendFor(swarm, swarm.agents[0] as Agent, 3_000)).toBeGreaterThan(0.95 * 990);
});

test("an idle peer sends a message as soon as another agent claims", () => {
  const swarm = idleSwarm(2, []);
  const [first, second] = swarm.agents as [Agent, Agent];
  swarm.pass(1_000);
  const before = second.link.seq;
  swarm.want(first, [600]);
  swarm.pass(100);
  expect(second.link.seq).toBe(before + 1);
});

test("a peer that does not have the quota of a claim sends a message as well", () => {
  const swarm = testSwarm(2, {}, { limits: [100] });
  const [first, second] = swarm.agents as [Agent, Agent];
  swarm.do(second, { type: "remove", quota: "p" });
  swarm.pass(20_000);
  let sent = 0;
  for (let called = 1; called <= 200; called++) {
    while (sent < Math.min(100, called) && swarm.take(first, 1)) sent++;
    const waiting = Math.min(100, called) - sent;
    swarm.want(first, waiting > 0 ? [1] : undefined, waiting > 0 ? [waiting] : undefined);
    swarm.pass(50);
  }
  expect(sent).toBeGreaterThanOrEqual(98);
});

test("the parts of peers that do not answer a claim stay free", () => {
  const swarm = idleSwarm(4, []);
  const [first, , third, fourth] = swarm.agents as [Agent, Agent, Agent, Agent];
  for (const agent of [third, fourth]) swarm.gone.add(agent);
  expect(sendFor(swarm, first, 3_000)).toBeLessThanOrEqual(0.5 * 990);
  expect(quotaIn(first).isolation.heldForSilent[0]).toBeCloseTo(0.5 * 990, 0);
});

test("capacity held for a late peer is free again with its next message, with any content", () => {
  const swarm = idleSwarm(4, []);
  const [first, , , fourth] = swarm.agents as [Agent, Agent, Agent, Agent];
  swarm.gone.add(fourth);
  sendFor(swarm, first, 2_000);
  expect(quotaIn(first).isolation.heldForSilent[0]).toBeGreaterThan(200);
  const message = word("agent-3", fourth.link.seq + 1, { quotas: [] });
  step(first, { type: "receive", message }, swarm.now);
  expect(quotaIn(first).isolation.heldForSilent).toEqual([0]);
});

test("a late peer that falls silent may have used what was held for it", () => {
  const swarm = idleSwarm(4, []);
  const [first, , , fourth] = swarm.agents as [Agent, Agent, Agent, Agent];
  swarm.gone.add(fourth);
  sendFor(swarm, first, 2_000);
  const held = quotaIn(first).isolation.heldForSilent[0] as number;
  sendFor(swarm, first, 50_000);
  expect([...first.membership.peers.values()].map(({ state }) => state)).toContain("silent");
  expect(quotaIn(first).isolation.heldForSilent[0]).toBeGreaterThan(0.95 * held);
});

test("a peer that sends at every heartbeat is never late", () => {
  const swarm = testSwarm(3);
  const [first] = swarm.agents as [Agent];
  for (let i = 0; i < 40; i++) {
    for (const agent of swarm.agents) swarm.want(agent, [10], [500]);
    swarm.pass(250);
    for (const agent of swarm.agents) while (step(agent, { type: "take", quota: "p", cost: [10] }, swarm.now).taken);
    expect(quotaIn(first).isolation.heldForSilent).toEqual([0]);
  }
});
