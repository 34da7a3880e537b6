import { describe, expect, test } from "vitest";
import { quotaIn, type TestSwarm, testAgent, testSwarm } from "./test-agents.ts";

/** A busy swarm of five, of which `count` crash at the time that is returned. */
function crashed(count: number): { swarm: TestSwarm; held: () => number; restart: (id: string) => void } {
  const swarm = testSwarm(5);
  for (const agent of swarm.agents) for (let i = 0; i < 100; i++) swarm.take(agent, 1);
  swarm.pass(2_000);
  for (const agent of swarm.agents.slice(-count)) swarm.gone.add(agent);
  const [first] = swarm.agents;
  const held = () => quotaIn(first as (typeof swarm.agents)[number]).isolation.heldForSilent[0] as number;
  return {
    swarm,
    held,
    restart: (id) => swarm.agents.push(testAgent(id, {}, {}, swarm.now)),
  };
}

describe("the capacity held free for a silent agent", () => {
  test("is free once an agent that started after its last word is heard", () => {
    const { swarm, held, restart } = crashed(1);
    swarm.pass(2_000);
    restart("new");
    swarm.pass(3_000);
    expect(held()).toBe(0);
    swarm.pass(2_000);
    expect(held()).toBe(0);
  });

  test("is free although the successor starts long after the silence was noticed", () => {
    const { swarm, held, restart } = crashed(1);
    swarm.pass(20_000);
    expect(held()).toBeGreaterThan(50);
    restart("new");
    swarm.pass(1_000);
    expect(held()).toBe(0);
  });

  test("of two is free for each successor once", () => {
    const { swarm, held, restart } = crashed(2);
    swarm.pass(10_000);
    const ofTwo = held();
    restart("new");
    swarm.pass(5_000);
    expect(held()).toBeGreaterThan(0.4 * ofTwo);
    expect(held()).toBeLessThan(0.7 * ofTwo);
    restart("newer");
    swarm.pass(5_000);
    expect(held()).toBe(0);
  });

  test("stays for an agent that fell silent after the newest one had started", () => {
    const { swarm, held } = crashed(1);
    swarm.pass(10_000);
    expect(held()).toBeGreaterThan(50);
  });

  test("stays although an agent of another id restarts under its own", () => {
    const { swarm, held } = crashed(1);
    swarm.pass(10_000);
    const before = held();
    const [, restarted] = swarm.agents;
    swarm.gone.add(restarted as (typeof swarm.agents)[number]);
    swarm.agents.push(testAgent("agent-1", { incarnation: 2 }, {}, swarm.now));
    swarm.pass(3_000);
    expect(held()).toBeGreaterThan(0.5 * before);
  });
});
