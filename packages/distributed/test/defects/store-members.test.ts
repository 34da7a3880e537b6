import { memorySyncStore, SyncMemory } from "@hivepace/core/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { HookedAllocator } from "../support/hooked-allocator.ts";
import { RESOURCE, type TestAgent, TestSwarm } from "../support/swarm.ts";

let swarm: TestSwarm;
let store: HookedAllocator;
beforeEach(() => {
  swarm = new TestSwarm();
  store = new HookedAllocator(memorySyncStore({ memory: new SyncMemory(swarm.clock) }));
});
afterEach(() => swarm.close());

test("an agent with a resource of its own still counts all agents of the others", async () => {
  const [first] = (await swarm.start(4, 100, 10_000, { sync: store, aggregation: "store" })) as [TestAgent];
  first.limiter.setCapacity("own", 100, 10_000);
  await swarm.clock.run(20_000);
  expect(first.limiter.status().members).toBe(4);
  // In store mode, too, several agents keep a safety margin of the limit free.
  await expect(first.limiter.acquire(RESOURCE, { cost: 100, timeoutMs: 1 })).rejects.toMatchObject({
    code: "CAPACITY_EXHAUSTED",
  });
});

test("a reply to a request about another window changes nothing", async () => {
  const [first] = (await swarm.start(2, 100, 10_000, { sync: store, aggregation: "store" })) as [TestAgent];
  await swarm.clock.run(5_000);
  let changes = 0;
  store.onAnswer = () => {
    if (changes++ < 5) first.limiter.setCapacity(RESOURCE, 100 + changes, 10_000 + changes * 1_000);
  };
  await swarm.clock.run(20_000);
  expect(changes).toBeGreaterThan(5);
  const { available, total, share } = first.limiter.getCapacity(RESOURCE) ?? {};
  expect([available, total, share].every(Number.isFinite)).toBe(true);
  expect(total).toBe(105);
});
