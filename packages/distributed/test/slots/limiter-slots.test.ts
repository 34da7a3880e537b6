import { afterEach, beforeEach, expect, test } from "vitest";
import { RESOURCE, type TestAgent, TestSwarm } from "../support/swarm.ts";

let swarm: TestSwarm;
beforeEach(() => {
  swarm = new TestSwarm();
});
afterEach(() => swarm.close());

async function start(count: number, maxInFlight: number, leaseMs?: number): Promise<readonly TestAgent[]> {
  const agents: TestAgent[] = [];
  for (let i = 0; i < count; i++) agents.push(await swarm.join());
  for (const { limiter } of agents) limiter.setCapacity(RESOURCE, 1_000, 60_000, { maxInFlight, leaseMs });
  await swarm.clock.run(3_000);
  return agents;
}

test("limiters hold their calls under way to the slots together, and finish hands a slot over", async () => {
  const [one, other] = (await start(2, 1)) as [TestAgent, TestAgent];
  const held = one.limiter.acquire(RESOURCE);
  await swarm.clock.run(2_000);
  await held;
  let isGranted = false;
  const waiting = other.limiter.acquire(RESOURCE).then(() => {
    isGranted = true;
  });
  await swarm.clock.run(3_000);
  expect(isGranted).toBe(false);
  expect(other.limiter.status().resources[0]).toMatchObject({ slots: { limit: 1, used: 1, usedHere: 0 } });
  expect(other.limiter.tryAcquire(RESOURCE)).toBe(false);
  one.limiter.finish(RESOURCE);
  await swarm.clock.run(20);
  await waiting;
  expect(isGranted).toBe(true);
});

test("work that fails frees its slot", async () => {
  const [one] = (await start(1, 1)) as [TestAgent];
  const fail = one.limiter.run(RESOURCE, () => Promise.reject(new Error("broken")));
  await expect(fail).rejects.toThrow("broken");
  expect(one.limiter.status().resources[0]?.slots?.used).toBe(0);
  expect(one.limiter.tryAcquire(RESOURCE)).toBe(true);
});

test("a call that is never finished frees its slot after leaseMs", async () => {
  const [one] = (await start(1, 1, 20_000)) as [TestAgent];
  expect(one.limiter.tryAcquire(RESOURCE)).toBe(true);
  await swarm.clock.run(19_000);
  expect(one.limiter.tryAcquire(RESOURCE)).toBe(false);
  await swarm.clock.run(2_000);
  expect(one.limiter.tryAcquire(RESOURCE)).toBe(true);
  expect(one.limiter.getCapacity(RESOURCE)?.inFlight).toBe(1);
});

test("agents that never wait get a slot as well", async () => {
  const [one, other] = (await start(2, 1)) as [TestAgent, TestAgent];
  const tries = async (agent: TestAgent): Promise<boolean> => {
    for (let i = 0; i < 20; i++) {
      if (agent.limiter.tryAcquire(RESOURCE)) return true;
      await swarm.clock.run(100);
    }
    return false;
  };
  expect(await tries(one)).toBe(true);
  expect(await tries(other)).toBe(false);
  one.limiter.finish(RESOURCE);
  expect(await tries(other)).toBe(true);
});

test.each([{ maxInFlight: 0 }, { maxInFlight: 2.5 }, { maxInFlight: 2, leaseMs: 0 }])(
  "%j is refused by name",
  async (options) => {
    const [one] = (await start(1, 1)) as [TestAgent];
    const set = () => one.limiter.setCapacity(RESOURCE, 10, 60_000, options);
    expect(set).toThrow(options.maxInFlight === 2 ? "leaseMs" : "maxInFlight");
  },
);
