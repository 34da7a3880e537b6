import { expect, test } from "vitest";
import { availableAt } from "../available-at.ts";
import { quotaIn, type TestSwarm, testAgent, testSwarm } from "../test-agents.ts";
import { agentMode } from "./mode-of.ts";

function takeAll(swarm: TestSwarm, cost = 1): number {
  const [agent] = swarm.agents;
  if (!agent) throw new Error("no agent");
  let taken = 0;
  while (taken < 2_000 && swarm.take(agent, cost)) taken++;
  return taken;
}

test.each([
  [undefined, 1_000],
  [1, 1_000],
  [5, 200],
])("an agent that expects %s agents and has heard none uses %d of 1,000", (expectedAgents, part) => {
  const swarm = testSwarm(1, { expectedAgents });
  expect(agentMode(swarm.agents[0] as never, swarm.now)).toBe("alone");
  expect(takeAll(swarm)).toBe(part);
});

test("the part of this agent is available again a window later, and the reported wait says so", () => {
  const swarm = testSwarm(1, { expectedAgents: 5 });
  const [agent] = swarm.agents as [never];
  const sentAt = swarm.now;
  takeAll(swarm);
  const freeAt = availableAt(agent, quotaIn(agent), [1], undefined, swarm.now);
  expect(freeAt - sentAt).toBeGreaterThan(59_900);
  expect(freeAt - sentAt).toBeLessThan(60_200);
  swarm.pass(61_000);
  expect(takeAll(swarm)).toBe(200);
});

test("an agent whose peers have left has the whole limit", () => {
  const swarm = testSwarm(2, { expectedAgents: 5 });
  const [, other] = swarm.agents as [never, never];
  swarm.do(other, { type: "leave" });
  swarm.gone.add(other);
  swarm.pass(200_000);
  expect(agentMode(swarm.agents[0] as never, swarm.now)).toBe("alone");
  expect(takeAll(swarm)).toBe(1_000);
});

test("a call larger than the part is sent once the window holds nothing else", () => {
  const swarm = testSwarm(1, { expectedAgents: 5 });
  const [agent] = swarm.agents as [never];
  expect(swarm.take(agent, 600)).toBe(true);
  expect(swarm.take(agent, 600)).toBe(false);
  swarm.want(agent, [600]);
  swarm.pass(58_000);
  expect(swarm.take(agent, 600)).toBe(false);
  swarm.pass(4_000);
  expect(swarm.take(agent, 600)).toBe(true);
});

test("without a bus no peers are expected", () => {
  const swarm = testSwarm(1, { hasBus: false, expectedAgents: 5 });
  expect(takeAll(swarm)).toBe(1_000);
  expect(testAgent("a", { expectedAgents: 5 }).membership.hasHeard).toBe(false);
});
