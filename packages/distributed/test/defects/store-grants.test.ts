import { memorySyncStore, SyncMemory } from "@hivepace/core/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { RESOURCE, TestSwarm } from "../support/swarm.ts";

const DAY_MS = 86_400_000;

let swarm: TestSwarm;
let memory: SyncMemory;
beforeEach(() => {
  swarm = new TestSwarm();
  memory = new SyncMemory(swarm.clock);
});
afterEach(() => swarm.close());

const start = async (count: number, limit: number, windowMs: number) =>
  (await swarm.start(count, limit, windowMs, { sync: memorySyncStore({ memory }), aggregation: "store" })).map(
    ({ limiter }) => limiter,
  );

test("agents that wait for whole calls do not each hold a part of one", async () => {
  const limiters = await start(2, 1, 60_000);
  let served = 0;
  for (const limiter of limiters)
    for (const cost of [0.25, 1])
      void limiter.acquire(RESOURCE, { cost }).then(
        () => served++,
        () => undefined,
      );
  await swarm.clock.run(10 * 60_000);
  expect(served).toBe(4);
});

test("an idle agent does not take a store that is learning for unavailable", async () => {
  const options = { sync: memorySyncStore({ memory }), aggregation: "store", expectedAgents: 2 } as const;
  const [idle, busy] = [await swarm.join(options), await swarm.join(options)].map(({ limiter }) => limiter);
  for (const limiter of [idle, busy]) limiter?.setCapacity(RESOURCE, 2, 10_000);
  await swarm.clock.run(3_000);
  const granted: number[] = [];
  const call = () => busy?.acquire(RESOURCE).then(() => granted.push(swarm.clock.now()));
  void call();
  await swarm.clock.run(3_000);
  void call();
  await swarm.clock.run(3_000);
  expect(granted).toHaveLength(2);
  expect(idle?.tryAcquire(RESOURCE)).toBe(false);
});

test("an agent with rare requests does not take a store that has just finished learning for unavailable", async () => {
  const options = { sync: memorySyncStore({ memory }), aggregation: "store", expectedAgents: 3 } as const;
  const limiters = [];
  for (let i = 0; i < 3; i++) limiters.push((await swarm.join(options)).limiter);
  // One request in two minutes.
  for (const limiter of limiters) limiter.setCapacity(RESOURCE, 0.5, 60_000);
  await swarm.clock.run(6_200);
  let granted = 0;
  for (const [i, cost] of [1, undefined, 0.25].entries())
    if (cost)
      void limiters[i]?.acquire(RESOURCE, { cost }).then(
        () => (granted += cost),
        () => {},
      );
  await swarm.clock.run(20_000);
  expect(granted).toBeLessThanOrEqual(1);
  expect(granted).toBeGreaterThan(0);
});

test("a long pause counts in full for every agent that receives it from the store", async () => {
  const [first, second] = await start(2, 10, 10_000);
  await swarm.clock.run(5_000);
  first?.announceReduced(RESOURCE, "429", { retryAfterMs: DAY_MS / 2 });
  await swarm.clock.run(120_000);
  expect(second?.status().resources[0]?.pausedForMs).toBeGreaterThan(DAY_MS / 2 - 200_000);
});
