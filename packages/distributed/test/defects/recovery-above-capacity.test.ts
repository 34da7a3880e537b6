import { afterEach, beforeEach, expect, test } from "vitest";
import { RESOURCE, type TestAgent, TestSwarm } from "../support/swarm.ts";

let swarm: TestSwarm;
beforeEach(() => {
  swarm = new TestSwarm();
});
afterEach(() => swarm.close());

const totals = (agents: readonly TestAgent[]) =>
  agents.map(({ limiter }) => limiter.getCapacity(RESOURCE)?.total as number);
const start = (reduceFactor: number) =>
  swarm.start(2, 100, 10_000, { maxRecovery: false, recoveryIntervalMs: 1_000, reduceFactor });

test("a cut of a level above the configured capacity reaches all agents and isolates none", async () => {
  const agents = await start(0.9);
  agents[0]?.limiter.announceReduced(RESOURCE, "429");
  await swarm.clock.run(30_000);
  expect(totals(agents)).toEqual([200, 200]);
  agents[0]?.limiter.announceReduced(RESOURCE, "429");
  await swarm.clock.run(100);
  expect(totals(agents)).toEqual([180, 180]);
  await swarm.clock.run(500);
  agents[1]?.limiter.announceReduced(RESOURCE, "429");
  await swarm.clock.run(10_000);
  for (const { limiter } of agents) expect(limiter.status()).toMatchObject({ mode: "member", members: 2, ignored: {} });
});

test("a cut down to exactly the configured capacity cuts once for one congestion", async () => {
  const agents = await start(0.5);
  agents[0]?.limiter.announceReduced(RESOURCE, "429");
  await swarm.clock.run(30_000);
  expect(totals(agents)).toEqual([200, 200]);
  agents[0]?.limiter.announceReduced(RESOURCE, "429");
  await swarm.clock.run(600);
  agents[1]?.limiter.announceReduced(RESOURCE, "429");
  await swarm.clock.run(100);
  for (const total of totals(agents)) expect(total).toBeCloseTo(100, 3);
});

test("an agent that recovers to the configured capacity accepts no level above it", async () => {
  const bold = await swarm.join({ maxRecovery: false, recoveryIntervalMs: 1_000, reduceFactor: 0.9 });
  const careful = await swarm.join({ recoveryIntervalMs: 1_000, reduceFactor: 0.9 });
  for (const { limiter } of [bold, careful]) limiter.setCapacity(RESOURCE, 100, 10_000);
  await swarm.clock.run(3_000);
  for (let i = 0; i < 3; i++) {
    bold.limiter.announceReduced(RESOURCE, "429");
    await swarm.clock.run(15_000);
    expect(careful.limiter.getCapacity(RESOURCE)?.total).toBeLessThanOrEqual(100);
    expect(careful.limiter.status()).toMatchObject({ mode: "member", ignored: {} });
  }
});
