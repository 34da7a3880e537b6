import { AllocatorMemory, memorySyncStore, SyncMemory } from "@hivepace/core/testing";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createDistributedLimiter, createHive } from "../src/index.ts";
import { HookedAllocator } from "./support/hooked-allocator.ts";
import { RESOURCE, type TestAgent, TestSwarm } from "./support/swarm.ts";

let swarm: TestSwarm;
let memory: SyncMemory;
let store: HookedAllocator;
beforeEach(() => {
  swarm = new TestSwarm();
  memory = new SyncMemory(swarm.clock);
  store = new HookedAllocator(memorySyncStore({ memory }));
});
afterEach(async () => {
  await swarm.close();
  expect(swarm.clock.pending).toBe(0);
});

const DAY_MS = 86_400_000;
const modes = (agents: readonly TestAgent[]) => new Set(agents.map(({ limiter }) => limiter.status().aggregation));

describe("a store grants the limit", () => {
  const start = async (count: number): Promise<TestAgent[]> => {
    const agents = await swarm.start(count, 100, 10_000, { sync: store, aggregation: "store" });
    for (const agent of agents) for (let i = 0; i < 5; i++) swarm.call(agent);
    return agents;
  };

  test("all of it, fairly, with a call or two a heartbeat and nothing on the bus", async () => {
    const agents = await start(8);
    await swarm.clock.run(10_000);
    const { calls } = store;
    await swarm.clock.run(40_000);
    expect(swarm.largest()).toBeLessThanOrEqual(100);
    expect(swarm.sentSince(swarm.clock.now() - 40_000)).toBeGreaterThan(300);
    const counts = agents.map(({ sent }) => sent.length);
    expect(Math.min(...counts) / Math.max(...counts)).toBeGreaterThan(0.8);
    expect((store.calls - calls) / 8 / 40).toBeLessThan(2.5);
    for (const { limiter } of agents)
      expect(limiter.status()).toMatchObject({ published: 0, aggregation: "store", members: 8, mode: "member" });
  });

  test("while the store is away all agents continue within the limit, and no request waits for it", async () => {
    const agents = await start(8);
    await swarm.clock.run(30_000);
    store.fails = () => true;
    await swarm.clock.run(30_000);
    expect(swarm.sentSince(swarm.clock.now() - 20_000)).toBeGreaterThan(80);
    expect(agents[0]?.limiter.status()).toMatchObject({ mode: "isolated", lastStoreFailure: expect.any(String) });
    store.fails = () => false;
    await swarm.clock.run(30_000);
    expect(swarm.largest()).toBeLessThanOrEqual(100);
    expect(swarm.sentSince(swarm.clock.now() - 20_000)).toBeGreaterThan(170);
  });

  test("a level written into the store cannot push the limit below the minimum or pause agents for more than a day", async () => {
    const agents = await start(2);
    await swarm.clock.run(5_000);
    store.change = (answer) => ({
      ...answer,
      level: {
        ...{
          epoch: 5,
          levelAtCut: 1e-9,
          pauseCount: 1,
          pauseMs: 31 * DAY_MS,
          tie: "00",
          recoveryFactor: 1,
          levelMax: 1_000,
        },
        ...{ recoveryIntervalMs: 1e9, cutAgoMs: 0, pausedAgoMs: 0, origin: "liar", reason: "a lie" },
      },
    });
    await swarm.clock.run(3_000);
    store.change = (answer) => answer;
    for (const { limiter } of agents) {
      const [{ level = 0, pausedForMs = Infinity } = {}] = limiter.status().resources;
      expect(level).toBeGreaterThanOrEqual(0.01);
      expect(pausedForMs).toBeLessThanOrEqual(DAY_MS);
    }
  });

  test("a store that has lost its memory learns first, and the limit holds", async () => {
    await start(8);
    await swarm.clock.run(30_000);
    const { learning } = store;
    memory.allocator = new AllocatorMemory();
    await swarm.clock.run(30_000);
    expect(store.learning).toBeGreaterThan(learning);
    expect(swarm.largest()).toBeLessThanOrEqual(100);
    expect(swarm.sentSince(swarm.clock.now() - 20_000)).toBeGreaterThan(170);
  });

  test("a fifth of the calls fails, and the limit holds", async () => {
    let count = 0;
    await start(8);
    store.fails = () => ++count % 5 === 0;
    await swarm.clock.run(60_000);
    expect(swarm.largest()).toBeLessThanOrEqual(100);
    expect(swarm.sentSince(swarm.clock.now() - 40_000)).toBeGreaterThan(280);
  });

  test("a 429 reaches all agents at once, over the bus", async () => {
    const agents = await start(8);
    await swarm.clock.run(20_000);
    agents[0]?.limiter.announceReduced(RESOURCE, "429");
    await swarm.clock.run(100);
    for (const { limiter } of agents) expect(limiter.getCapacity(RESOURCE)?.total).toBe(50);
  });

  test("a goodbye also goes to the store", async () => {
    const agents = await start(4);
    await swarm.clock.run(5_000);
    const closed = agents[0]?.limiter.close();
    await swarm.clock.run(2_000);
    await closed;
    expect(agents[1]?.limiter.status().members).toBe(3);
  });

  test("without a bus, hives that share a store share their limits", async () => {
    const { clock } = swarm;
    const options = { sync: store, aggregation: "store", clock, namespace: "n", windowMs: 10_000 } as const;
    const endpoints = [{ id: "eu", rpmLimit: 20 }];
    const hives = await Promise.all(["a", "b"].map((agentId) => createHive({ ...options, agentId, endpoints })));
    await clock.run(6_000);
    let granted = 0;
    for (let i = 0; i < 90; i++) {
      for (const hive of hives) if (hive.tryAcquire({ endpoint: "eu", tokens: 1 }).allowed) granted++;
      await clock.run(100);
    }
    expect(granted).toBeGreaterThan(15);
    expect(granted).toBeLessThanOrEqual(20);
    expect(hives[0]?.explain("eu").limits[0]?.used).toBeGreaterThan(10);
    const closing = Promise.all(hives.map((hive) => hive.close()));
    await clock.run(1_000);
    await closing;
  });
});

describe("automatic", () => {
  const auto = () => ({ sync: store, aggregationAt: { above: 6, below: 4 } });

  test("the bus for few agents, the store for many, the bus again for few, and never more than the limit", async () => {
    const few = await swarm.start(4, 600, 60_000, auto());
    for (const agent of few) for (let i = 0; i < 5; i++) swarm.call(agent);
    await swarm.clock.run(90_000);
    expect(modes(few)).toEqual(new Set(["bus"]));
    const more = await swarm.start(4, 600, 60_000, auto());
    for (const agent of more) for (let i = 0; i < 5; i++) swarm.call(agent);
    await swarm.clock.run(10_000);
    expect(modes(swarm.agents)).toEqual(new Set(["store"]));
    const published = swarm.agents.map(({ limiter }) => limiter.status().published);
    await swarm.clock.run(120_000);
    expect(swarm.agents.map(({ limiter }) => limiter.status().published)).toEqual(published);
    expect(swarm.sentSince(swarm.clock.now() - 60_000)).toBeGreaterThan(540);
    const leaving = Promise.all(more.concat(few.slice(3)).map(({ limiter }) => limiter.close()));
    await swarm.clock.run(10_000);
    await leaving;
    expect(modes(few.slice(0, 3))).toEqual(new Set(["bus"]));
    await swarm.clock.run(120_000);
    expect(few[0]?.limiter.status().mode).toBe("member");
    expect(swarm.sentSince(swarm.clock.now() - 60_000)).toBeGreaterThan(540);
    expect(swarm.largest(60_000)).toBeLessThanOrEqual(1.02 * 600);
  });

  test("a store that cannot grant limits changes nothing", async () => {
    const plain = {
      name: "plain",
      sync: store.sync.bind(store),
      close: async () => {},
      async [Symbol.asyncDispose]() {},
    };
    const agents = await swarm.start(2, 100, 10_000, { sync: plain });
    expect(agents[0]?.limiter.status()).toMatchObject({ aggregation: "bus", mode: "member" });
    await expect(
      createDistributedLimiter({ bus: swarm.agents[0]?.bus as never, agentId: "x", sync: plain, aggregation: "store" }),
    ).rejects.toMatchObject({ code: "INVALID_CONFIG", option: "sync" });
  });

  test("a newcomer that reaches the bus and not the store learns that its peers are in store mode", async () => {
    await swarm.start(8, 100, 10_000, { sync: store, aggregation: "store" });
    const away = new HookedAllocator(memorySyncStore({ memory }));
    away.fails = () => true;
    const late = await swarm.join({ sync: away });
    late.limiter.setCapacity(RESOURCE, 100, 10_000);
    await swarm.clock.run(6_000);
    expect(late.limiter.status().mode).toBe("isolated");
    expect(late.limiter.getCapacity(RESOURCE)?.share).toBeLessThan(20);
  });
});
