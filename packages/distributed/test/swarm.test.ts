import { text } from "@hivepace/test-kit";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { PRESENCE_SUBJECT } from "../src/index.ts";
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

describe("one limit for all", () => {
  test.each([2, 8])("%d agents with unbounded demand stay within it and use it", async (count) => {
    const agents = await swarm.start(count);
    for (const agent of agents) for (let i = 0; i < 5; i++) swarm.call(agent);
    const start = swarm.clock.now();
    await swarm.clock.run(60_000);
    expect(swarm.largest()).toBeLessThanOrEqual(100);
    expect(swarm.sentSince(start)).toBeGreaterThan(0.9 * 600);
    const each = agents.map(({ sent }) => sent.length);
    expect(Math.max(...each) / Math.min(...each)).toBeLessThan(1.3);
  });

  test("costs count with their amounts", async () => {
    const agents = await swarm.start(4, 1_000);
    for (const agent of agents) swarm.call(agent, 70);
    await swarm.clock.run(40_000);
    expect(swarm.largest()).toBeLessThanOrEqual(1_000);
    expect(swarm.largest()).toBeGreaterThan(800);
  });

  test("an agent with unbounded demand uses the capacity that others leave", async () => {
    const [busy, ...idle] = (await swarm.start(4)) as [TestAgent, ...TestAgent[]];
    for (let i = 0; i < 20; i++) swarm.call(busy);
    await swarm.clock.run(40_000);
    expect(busy.sent.length).toBeGreaterThan(0.9 * 400);
    expect(busy.limiter.getCapacity(RESOURCE)?.share).toBeGreaterThan(90);
    expect(idle.every(({ sent }) => sent.length === 0)).toBe(true);
  });

  test("shares add up to the capacity", async () => {
    const agents = await swarm.start(4);
    for (const agent of agents) for (let i = 0; i < 5; i++) swarm.call(agent);
    await swarm.clock.run(30_000);
    const sum = agents.reduce((all, { limiter }) => all + (limiter.getCapacity(RESOURCE)?.share ?? 0), 0);
    expect(sum).toBeGreaterThan(90);
    expect(sum).toBeLessThan(110);
  });

  test("a newcomer joins before it sends, and then has its share", async () => {
    const agents = await swarm.start(2);
    for (const agent of agents) for (let i = 0; i < 5; i++) swarm.call(agent);
    await swarm.clock.run(20_000);
    const newcomer = await swarm.join();
    newcomer.limiter.setCapacity(RESOURCE, 100, 10_000);
    expect(newcomer.limiter.status().mode).toBe("joining");
    expect(newcomer.limiter.getCapacity(RESOURCE)).toMatchObject({ available: 0, share: 0 });
    const joinedAt = swarm.clock.now();
    for (let i = 0; i < 5; i++) swarm.call(newcomer);
    await swarm.clock.run(30_000);
    expect(newcomer.sent[0]?.at).toBeGreaterThan(joinedAt + 1_000);
    expect(newcomer.sent.length).toBeGreaterThan(60);
    expect(swarm.largest()).toBeLessThanOrEqual(100);
    expect(newcomer.limiter.status()).toMatchObject({ mode: "member", members: 3 });
  });

  test("an agent that leaves sends a goodbye, and its share is available at once", async () => {
    const agents = await swarm.start(3);
    const [leaving, ...staying] = agents as [TestAgent, ...TestAgent[]];
    await leaving.limiter.close();
    await swarm.clock.run(100);
    for (const { limiter } of staying) expect(limiter.status().members).toBe(2);
    expect(staying[0]?.limiter.status().peers).toContainEqual(expect.objectContaining({ state: "left" }));
  });

  test("a resource that is set late starts with the reported usage of others", async () => {
    const first = await swarm.join();
    const second = await swarm.join();
    first.limiter.setCapacity(RESOURCE, 100, 10_000);
    second.limiter.setCapacity("other", 100, 10_000);
    await swarm.clock.run(3_000);
    for (let i = 0; i < 5; i++) swarm.call(first);
    await swarm.clock.run(20_000);
    second.limiter.setCapacity(RESOURCE, 100, 10_000);
    expect(second.limiter.tryAcquire("other")).toBe(true);
    for (let i = 0; i < 5; i++) swarm.call(second);
    await swarm.clock.run(20_000);
    expect(second.sent.length).toBeGreaterThan(40);
    expect(swarm.largest()).toBeLessThanOrEqual(100);
  });

  test("the usage of idle agents is reported to an agent that sets the resource late", async () => {
    const first = await swarm.join();
    const second = await swarm.join();
    first.limiter.setCapacity(RESOURCE, 100, 60_000);
    await swarm.clock.run(3_000);
    for (let i = 0; i < 50; i++) if (first.limiter.tryAcquire(RESOURCE)) first.sent.push({ at: 0, cost: 1 });
    await swarm.clock.run(20_500);
    const setAt = swarm.clock.now();
    second.limiter.setCapacity(RESOURCE, 100, 60_000);
    let grantedAt = 0;
    void second.limiter.acquire(RESOURCE, { cost: 10 }).then(() => {
      grantedAt = swarm.clock.now();
    });
    await swarm.clock.run(2_000);
    // The second agent's share of the free capacity is more than ten.
    expect(grantedAt - setAt).toBe(0);
    let more = 0;
    while (second.limiter.tryAcquire(RESOURCE)) more++;
    await swarm.clock.run(1_000);
    while (second.limiter.tryAcquire(RESOURCE)) more++;
    expect(first.sent.length).toBeGreaterThan(40);
    expect(first.sent.length + 10 + more).toBeLessThanOrEqual(100);
  });

  test("a resource that is removed and set again keeps its usage", async () => {
    const [first, second] = (await swarm.start(2)) as [TestAgent, TestAgent];
    for (let i = 0; i < 40; i++) expect(first.limiter.tryAcquire(RESOURCE)).toBe(true);
    await swarm.clock.run(1_000);
    first.limiter.removeResource(RESOURCE);
    first.limiter.setCapacity(RESOURCE, 100, 10_000);
    await swarm.clock.run(2_000);
    for (let i = 0; i < 5; i++) swarm.call(second);
    await swarm.clock.run(3_000);
    expect(second.sent.length).toBeLessThanOrEqual(60);
    await swarm.clock.run(60_000);
    first.limiter.removeResource(RESOURCE);
    await swarm.clock.run(60_000);
    // Much later, the counts of the removed resource continue: they never decrease.
    first.limiter.setCapacity(RESOURCE, 100, 10_000);
    await swarm.clock.run(5_000);
    for (let i = 0; i < 5; i++) swarm.call(first);
    await swarm.clock.run(20_000);
    expect(first.sent.length).toBeGreaterThan(30);
    expect(second.limiter.status().ignored).toEqual({});
  });

  test("a window of another length keeps the usage", async () => {
    const [{ limiter }] = (await swarm.start(1, 100)) as [TestAgent];
    for (let i = 0; i < 100; i++) expect(limiter.tryAcquire(RESOURCE)).toBe(true);
    limiter.setCapacity(RESOURCE, 100, 20_000);
    expect(limiter.tryAcquire(RESOURCE)).toBe(false);
    await swarm.clock.run(15_000);
    expect(limiter.tryAcquire(RESOURCE)).toBe(false);
    await swarm.clock.run(8_000);
    expect(limiter.tryAcquire(RESOURCE)).toBe(true);
  });

  test("an agent that only tries gets its share too", async () => {
    const [waiting, trying] = (await swarm.start(2)) as [TestAgent, TestAgent];
    for (let i = 0; i < 30; i++) swarm.call(waiting);
    await swarm.clock.run(20_000);
    let granted = 0;
    for (let ms = 0; ms < 40_000; ms += 50) {
      if (trying.limiter.tryAcquire(RESOURCE)) granted = trying.sent.push({ at: swarm.clock.now(), cost: 1 });
      await swarm.clock.run(50);
    }
    expect(granted).toBeGreaterThan(0.8 * 200);
    expect(swarm.largest()).toBeLessThanOrEqual(100);
    // Two seconds after the last try the agent has no demand, and a window later it has no usage.
    const heard: string[] = [];
    await trying.bus.subscribe(PRESENCE_SUBJECT, (payload) => heard.push(text(payload)));
    expect(trying.limiter.getCapacity(RESOURCE)?.share).toBeGreaterThan(40);
    await swarm.clock.run(15_000);
    const last = heard.filter((message) => message.includes('"agent_id":"agent-1"')).at(-1);
    expect(last).toContain(RESOURCE);
    expect(last).not.toContain('"claim"');
    const start = swarm.clock.now();
    await swarm.clock.run(10_000);
    expect(swarm.sentSince(start)).toBeGreaterThan(85);
  });

  test('with sharing "none" each agent has the whole limit at once', async () => {
    const agents = await Promise.all([swarm.join({ sharing: "none" }), swarm.join({ sharing: "none", agentId: "b" })]);
    for (const { limiter } of agents) {
      limiter.setCapacity(RESOURCE, 10, 10_000);
      for (let i = 0; i < 10; i++) expect(limiter.tryAcquire(RESOURCE)).toBe(true);
      expect(limiter.getCapacity(RESOURCE)).toMatchObject({ total: 10, share: 10, configured: 10, available: 0 });
    }
  });

  test("of different limits the smallest applies, and its agent is named", async () => {
    const first = await swarm.join();
    const second = await swarm.join();
    first.limiter.setCapacity(RESOURCE, 100, 10_000);
    second.limiter.setCapacity(RESOURCE, 40, 10_000);
    await swarm.clock.run(3_000);
    expect(first.limiter.getCapacity(RESOURCE)).toMatchObject({ total: 40, configured: 100 });
    expect(first.updates.at(-1)).toMatchObject({
      agentId: "agent-1",
      newCapacity: 40,
      reason: "agents have different limits",
    });
    await second.limiter.close();
    await swarm.clock.run(100);
    expect(first.limiter.getCapacity(RESOURCE)?.total).toBe(100);
  });

  test("a weight multiplies the share of its agent under contention", async () => {
    const light = await swarm.join();
    const heavy = await swarm.join({ weight: 3 });
    for (const { limiter } of [light, heavy]) limiter.setCapacity(RESOURCE, 100, 10_000);
    await swarm.clock.run(3_000);
    for (const agent of [light, heavy]) for (let i = 0; i < 30; i++) swarm.call(agent);
    await swarm.clock.run(60_000);
    expect(heavy.sent.length / light.sent.length).toBeGreaterThan(2);
  });

  test("namespaces are separate", async () => {
    const one = await swarm.join({ namespace: "one", agentId: "a" });
    const other = await swarm.join({ namespace: "other", agentId: "b" });
    for (const { limiter } of [one, other]) limiter.setCapacity(RESOURCE, 100, 10_000);
    await swarm.clock.run(3_000);
    one.limiter.announceReduced(RESOURCE, "429");
    await swarm.clock.run(100);
    expect(totals([one, other])).toEqual([50, 100]);
    expect(one.limiter.status().members).toBe(1);
  });
});

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
