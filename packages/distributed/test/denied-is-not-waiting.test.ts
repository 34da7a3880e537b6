import { memoryBus } from "@hivepace/bus";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createDistributedLimiter, type Hive, observeSwarm, type SwarmObserver } from "../src/index.ts";
import { TestHives, watch } from "./support/hives.ts";

let hives: TestHives;
let observer: SwarmObserver;
beforeEach(async () => {
  hives = new TestHives();
  const bus = memoryBus(hives.broker, { clock: hives.clock });
  observer = await observeSwarm({ bus, namespace: "test", clock: hives.clock });
});
afterEach(async () => {
  await hives.close();
  await observer.close();
});

/** The waiting amount that an observer of the swarm shows, and the longest waiting time. */
function shown(): { waiting: number; waitedMs: number } {
  const [resource] = observer.snapshot().resources;
  const waitedMs = Math.max(0, ...(resource?.agents ?? []).map((use) => use.waitedMs));
  return { waiting: resource?.limits[0]?.waiting ?? 0, waitedMs };
}

test("a denied try of a hive is not shown as waiting, but a waiter is", async () => {
  const [hive, other] = (await hives.swarm(2, { endpoints: [{ id: "eu", rpmLimit: 10 }] })) as [Hive, Hive];
  const tryFor = async (ms: number): Promise<void> => {
    for (let i = 0; i < ms / 100; i++) {
      hive.tryAcquire({ endpoint: "eu" });
      await hives.clock.run(100);
    }
  };
  // The other agent has used nearly the whole limit, so that the swarm denies the call.
  for (let i = 0; i < 9; i++) {
    watch(other.acquire({ endpoint: "eu" }));
    await hives.clock.run(1_000);
  }
  await tryFor(8_000);
  expect(hive.status().waiting).toBe(0);
  expect(shown()).toEqual({ waiting: 0, waitedMs: 0 });
  watch(other.acquire({ endpoint: "eu" }));
  await tryFor(2_000);
  expect(shown().waiting).toBe(1);
  expect(shown().waitedMs).toBeGreaterThan(0);
});

test("a denied try of a limiter is not shown as waiting", async () => {
  const bus = await memoryBus(hives.broker, { clock: hives.clock });
  const join = (agentId: string) => createDistributedLimiter({ bus, agentId, namespace: "test", clock: hives.clock });
  const limiters = [await join("a"), await join("b")];
  for (const limiter of limiters) limiter.setCapacity("api", 10, 60_000);
  await hives.clock.run(3_000);
  for (let i = 0; i < 80; i++) {
    limiters[0]?.tryAcquire("api");
    await hives.clock.run(100);
  }
  expect(shown()).toEqual({ waiting: 0, waitedMs: 0 });
  await Promise.all(limiters.map((limiter) => limiter.close()));
  await bus.close();
});

test("a waiter whose key is exhausted claims nothing of a full endpoint", async () => {
  const options = { endpoints: [{ id: "eu", rpmLimit: 10 }], keys: { poor: { rpmLimit: 1 } } };
  const [hive, other] = (await hives.swarm(2, options)) as [Hive, Hive];
  watch(hive.acquire({ endpoint: "eu", key: "poor" }));
  for (let i = 0; i < 9; i++) {
    watch(other.acquire({ endpoint: "eu" }));
    await hives.clock.run(1_000);
  }
  watch(hive.acquire({ endpoint: "eu", key: "poor" }));
  await hives.clock.run(5_000);
  expect(hive.status().waiting).toBe(1);
  expect(shown()).toEqual({ waiting: 0, waitedMs: 0 });
  expect(observer.snapshot().keys).toMatchObject([{ resource: "poor", limits: [{ limit: 1, waiting: 1 }, {}] }]);
});
