import { expect, test } from "vitest";
import type { Agent } from "./agent.ts";
import type { Message } from "./message.ts";
import { step } from "./step.ts";
import { rules, type TestSwarm, testSwarm, WINDOW_MS } from "./test-agents.ts";

const MANY = 100;

/** Two agents; the first has made a call to each of many quotas. */
function busySwarm(): { readonly swarm: TestSwarm; readonly agent: Agent; readonly said: Message[] } {
  const swarm = testSwarm(2);
  const [agent] = swarm.agents as [Agent];
  for (const each of swarm.agents)
    for (let i = 0; i < MANY; i++)
      swarm.do(each, { type: "configure", config: { name: `q${i}`, limits: [100], windowMs: WINDOW_MS, rules } });
  swarm.pass(5_000);
  for (let i = 0; i < MANY; i++) swarm.do(agent, { type: "take", quota: `q${i}`, cost: [1] });
  const said: Message[] = [];
  const act = swarm.do.bind(swarm);
  swarm.do = (who, event) => {
    const effects = act(who, event);
    if (who === agent && effects.publish) said.push(effects.publish);
    return effects;
  };
  return { swarm, agent, said };
}

/** The largest and the mean number of reports in a message. */
function sizesOf(said: readonly Message[]): { readonly most: number; readonly seconds: ReadonlyMap<string, number> } {
  const seconds = new Map<string, number>();
  for (const { quotas } of said) for (const { name } of quotas) seconds.set(name, (seconds.get(name) ?? 0) + 1);
  return { most: Math.max(...said.map(({ quotas }) => quotas.length)), seconds };
}

test("recent changes are in every heartbeat, and unchanged quotas take turns", () => {
  const { swarm, said } = busySwarm();
  swarm.pass(3_000);
  expect(Math.min(...sizesOf(said).seconds.values())).toBeGreaterThanOrEqual(2);
  swarm.pass(2_000);
  said.length = 0;
  // Another quota stays busy, so that the agent speaks every second.
  for (let second = 0; second < 20; second++) {
    swarm.do(swarm.agents[0] as Agent, { type: "take", quota: "q0", cost: [1] });
    swarm.pass(1_000);
  }
  const { most, seconds } = sizesOf(said);
  expect(most).toBeLessThanOrEqual(MANY / 5 + 2);
  expect(seconds.size).toBe(MANY);
  expect(Math.min(...seconds.values())).toBeGreaterThanOrEqual(3);
});

test("the goodbye names all quotas", () => {
  const { swarm, agent } = busySwarm();
  swarm.pass(10_000);
  expect(step(agent, { type: "leave" }, swarm.now).publish?.quotas.length).toBe(MANY);
});

test("a change after a rest counts from now on, and after lost messages by its bins", () => {
  const { swarm, agent } = busySwarm();
  const [, other] = swarm.agents as [Agent, Agent];
  const used = () => (other.quotas.get("q7")?.usage.swarm.sum ?? [0])[0];
  swarm.pass(8_000);
  expect(used()).toBe(1);
  swarm.do(agent, { type: "take", quota: "q7", cost: [2] });
  swarm.pass(1_500);
  expect(used()).toBe(3);
  swarm.unreachable.add(other);
  swarm.do(agent, { type: "take", quota: "q7", cost: [3] });
  swarm.pass(2_500);
  swarm.unreachable.delete(other);
  swarm.pass(2_000);
  expect(used()).toBe(6);
});

test("an isolated agent keeps no budget of a quota that it has removed", () => {
  const { swarm, agent, said } = busySwarm();
  swarm.do(agent, { type: "remove", quota: "q0" });
  swarm.unreachable.add(agent);
  swarm.pass(20_000);
  const claims = said.slice(-10).flatMap(({ quotas }) => quotas.flatMap(({ name, claim }) => (claim ? [name] : [])));
  expect(claims).toContain("q1");
  expect(claims).not.toContain("q0");
});
