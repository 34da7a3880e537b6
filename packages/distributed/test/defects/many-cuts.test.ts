import { afterEach, beforeEach, expect, test } from "vitest";
import { RESOURCE, type TestAgent, TestSwarm } from "../support/swarm.ts";

let swarm: TestSwarm;
beforeEach(() => {
  swarm = new TestSwarm();
});
afterEach(() => swarm.close());

/** Makes cuts without cooldowns in between, as many as a month of short congestions causes. */
const cutOften = async ({ limiter }: TestAgent, times: number): Promise<void> => {
  for (let i = 0; i < times; i++) {
    limiter.announceReduced(RESOURCE, "429");
    swarm.clock.advance(1);
  }
  await swarm.clock.run(100);
};
const config = { cooldownMs: 0, recoveryFactor: 10, recoveryIntervalMs: 86_400_000 };
const levels = (agents: readonly TestAgent[]) =>
  new Set(agents.map(({ limiter }) => limiter.status().resources[0]?.level));

test("an agent that joins after thousands of cuts learns the level", async () => {
  const [first] = (await swarm.start(2, 100, 10_000, config)) as [TestAgent];
  for (let i = 0; i < 5; i++) await cutOften(first, 500);
  const newcomer = await swarm.join(config);
  newcomer.limiter.setCapacity(RESOURCE, 100, 10_000);
  await swarm.clock.run(3_000);
  expect(newcomer.limiter.status().resources[0]?.level).toBe(0.01);
  expect(levels(swarm.agents).size).toBe(1);
  newcomer.limiter.announceReduced(RESOURCE, "the newcomer's own");
  await swarm.clock.run(1_000);
  for (const { limiter } of swarm.agents)
    expect(limiter.status().resources[0]?.cause?.reason).toBe("the newcomer's own");
});

test("agents that were partitioned for thousands of cuts agree again", async () => {
  const agents = (await swarm.start(2, 100, 10_000, config)) as [TestAgent, TestAgent];
  await swarm.clock.run(1_000);
  swarm.broker.stop();
  await swarm.clock.run(1_000);
  for (let i = 0; i < 5; i++) await cutOften(agents[0], 500);
  await cutOften(agents[1], 1);
  swarm.broker.start();
  await swarm.clock.run(20_000);
  expect(agents.map(({ limiter }) => limiter.status().resources[0]?.level)).toEqual([0.01, 0.01]);
});

test("an agent that was refused before it learned of thousands of cuts agrees with the others in the end", async () => {
  const [first] = (await swarm.start(2, 100, 10_000, config)) as [TestAgent];
  for (let i = 0; i < 5; i++) await cutOften(first, 500);
  const newcomer = await swarm.join(config);
  newcomer.limiter.setCapacity(RESOURCE, 100, 10_000);
  newcomer.limiter.announceReduced(RESOURCE, "429");
  await swarm.clock.run(10_000);
  expect(levels(swarm.agents)).toEqual(new Set([0.01]));
});
