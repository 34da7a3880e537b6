import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { RESOURCE, type TestAgent, TestSwarm } from "./support/swarm.ts";

let swarm: TestSwarm;
beforeEach(() => {
  swarm = new TestSwarm();
});
afterEach(async () => {
  await swarm.close();
  expect(swarm.clock.pending).toBe(0);
});

const totals = (agents: readonly TestAgent[]) => agents.map(({ limiter }) => limiter.getCapacity(RESOURCE)?.total);

describe("a 429", () => {
  test("cuts everywhere at once, and every agent learns its origin and reason", async () => {
    const agents = await swarm.start(5);
    agents[2]?.limiter.announceReduced(RESOURCE, "received 429");
    await swarm.clock.run(1);
    expect(totals(agents)).toEqual([50, 50, 50, 50, 50]);
    for (const { updates, limiter } of agents) {
      expect(updates.at(-1)).toEqual({
        resource: RESOURCE,
        agentId: "agent-2",
        newCapacity: 50,
        reason: "received 429",
        timestamp: new Date(swarm.clock.epochMs() - 1),
      });
      expect(limiter.status().resources[0]).toMatchObject({
        level: 0.5,
        cause: { agentId: "agent-2", reason: "received 429", agoMs: 1 },
      });
    }
  });

  test("of one congestion cuts once, however many agents are refused", async () => {
    const agents = await swarm.start(5);
    for (const { limiter } of agents) limiter.announceReduced(RESOURCE, "429", { sentAgoMs: 200 });
    await swarm.clock.run(50);
    for (const { limiter } of agents) limiter.announceReduced(RESOURCE, "429 again", { sentAgoMs: 200 });
    await swarm.clock.run(2_000);
    for (const { limiter } of agents) limiter.announceReduced(RESOURCE, "429 within the cooldown");
    await swarm.clock.run(50);
    expect(totals(agents)).toEqual([50, 50, 50, 50, 50]);
  });

  test("all agents recover together, in real numbers, with an event for each step", async () => {
    const agents = await swarm.start(3, 5, 10_000, { recoveryIntervalMs: 2_000 });
    agents[0]?.limiter.announceReduced(RESOURCE, "429");
    await swarm.clock.run(100);
    expect(totals(agents)).toEqual([2.5, 2.5, 2.5]);
    await swarm.clock.run(2_000);
    expect(totals(agents)).toEqual([2.75, 2.75, 2.75]);
    await swarm.clock.run(14_000);
    expect(totals(agents)).toEqual([5, 5, 5]);
    for (const { updates } of agents) {
      const steps = updates.filter(({ reason }) => reason === "recovery").map(({ newCapacity }) => newCapacity);
      expect(steps[0]).toBe(2.75);
      expect(steps.at(-1)).toBe(5);
      expect(steps).toHaveLength(8);
    }
  });

  test("after the cooldown cuts again, but only slightly during a recovery", async () => {
    const agents = await swarm.start(2, 100, 10_000, { cooldownMs: 1_000 });
    agents[0]?.limiter.announceReduced(RESOURCE, "429");
    await swarm.clock.run(31_000);
    expect(totals(agents)).toEqual([55, 55]);
    agents[1]?.limiter.announceReduced(RESOURCE, "429");
    await swarm.clock.run(100);
    expect(totals(agents)[0]).toBeCloseTo(55 / 1.21, 5);
  });

  test("never cuts below the minimum capacity", async () => {
    const agents = await swarm.start(2, 10, 1_000, { cooldownMs: 0, minCapacity: 4, recoveryIntervalMs: 1e6 });
    for (let i = 0; i < 5; i++) {
      agents[0]?.limiter.announceReduced(RESOURCE, "429");
      await swarm.clock.run(1_000);
    }
    expect(totals(agents)).toEqual([4, 4]);
  });

  test("leaves the minimum capacity available in spite of the safety margin", async () => {
    const agents = await swarm.start(2, 100, 1_000, { reduceFactor: 0.001, recoveryIntervalMs: 1e7 });
    agents[0]?.limiter.announceReduced(RESOURCE, "429");
    await swarm.clock.run(1_000);
    expect(totals(agents)).toEqual([1, 1]);
    for (const agent of agents) swarm.call(agent);
    const start = swarm.clock.now();
    await swarm.clock.run(10_000);
    expect(swarm.sentSince(start)).toBeGreaterThan(3);
    expect(swarm.largest(1_000)).toBe(1);
  });

  test("is learned by later agents", async () => {
    const [first] = (await swarm.start(2)) as [TestAgent];
    first.limiter.announceReduced(RESOURCE, "429");
    await swarm.clock.run(5_000);
    const late = await swarm.join();
    late.limiter.setCapacity(RESOURCE, 100, 10_000);
    await swarm.clock.run(2_000);
    expect(totals([late])).toEqual([50]);
    expect(late.updates.at(-1)).toMatchObject({ agentId: "agent-0", reason: "429" });
  });

  test("with Retry-After pauses all agents for that time", async () => {
    const agents = await swarm.start(3);
    for (const agent of agents) swarm.call(agent);
    await swarm.clock.run(5_000);
    agents[0]?.limiter.announceReduced(RESOURCE, "429", { retryAfterMs: 7_000 });
    await swarm.clock.run(10);
    const pausedAt = swarm.clock.now();
    await swarm.clock.run(6_900);
    expect(swarm.sentSince(pausedAt)).toBe(0);
    expect(agents[1]?.limiter.status().resources[0]?.pausedForMs).toBeGreaterThan(0);
    expect(agents[1]?.limiter.getCapacity(RESOURCE)?.available).toBe(0);
    await swarm.clock.run(10_000);
    expect(swarm.sentSince(pausedAt)).toBeGreaterThan(20);
  });

  test("that is an overload pauses and cuts nothing", async () => {
    const agents = await swarm.start(2);
    agents[0]?.limiter.announceReduced(RESOURCE, "529", { kind: "overload", retryAfterMs: 1_000 });
    await swarm.clock.run(10);
    expect(totals(agents)).toEqual([100, 100]);
    expect(agents[1]?.limiter.tryAcquire(RESOURCE)).toBe(false);
    await swarm.clock.run(3_000);
    expect(agents[1]?.limiter.tryAcquire(RESOURCE)).toBe(true);
  });

  test('pauses all agents with sharing "none", too', async () => {
    const agents = await swarm.start(2, 100, 10_000, { sharing: "none" });
    agents[0]?.limiter.announceReduced(RESOURCE, "429", { retryAfterMs: 3_000 });
    await swarm.clock.run(10);
    for (const { limiter } of agents) expect(limiter.tryAcquire(RESOURCE)).toBe(false);
    const start = swarm.clock.now();
    for (const agent of agents) swarm.call(agent);
    await swarm.clock.run(2_900);
    expect(swarm.sentSince(start)).toBe(0);
    await swarm.clock.run(200);
    expect(swarm.sentSince(start)).toBe(100);
  });

  test('reduces the capacity of each agent with sharing "none"', async () => {
    const agents = await swarm.start(3, 100, 10_000, { sharing: "none", recoveryIntervalMs: 5_000 });
    agents[0]?.limiter.announceReduced(RESOURCE, "429");
    await swarm.clock.run(1_000);
    expect(totals(agents)).toEqual([50, 50, 50]);
    for (const { limiter } of agents) expect(limiter.getCapacity(RESOURCE)).toMatchObject({ share: 50, available: 50 });
    // A call above the reduced capacity waits for the recovery, and is then granted.
    let isServed = false;
    void agents[1]?.limiter.acquire(RESOURCE, { cost: 60 }).then(() => {
      isServed = true;
    });
    await swarm.clock.run(8_000);
    expect(isServed).toBe(false);
    await swarm.clock.run(10_000);
    expect(isServed).toBe(true);
  });

  test("without a bound recovers to twice the configured capacity and no further", async () => {
    const agents = await swarm.start(2, 100, 10_000, { maxRecovery: false, recoveryIntervalMs: 100 });
    agents[0]?.limiter.announceReduced(RESOURCE, "429");
    await swarm.clock.run(10_000);
    expect(totals(agents)).toEqual([200, 200]);
  });
});
