import { memorySyncStore, SyncMemory } from "@hivepace/core/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import { TestHives } from "./support/hives.ts";
import { RESOURCE, TestSwarm } from "./support/swarm.ts";

let hives: TestHives;
let swarm: TestSwarm;
beforeEach(() => {
  hives = new TestHives();
  swarm = new TestSwarm();
});
afterEach(() => Promise.all([hives.close(), swarm.close()]));

test("a call that is repeated when its retryAfterMs is over is granted, also over a long window", async () => {
  const hive = await hives.alone({ endpoints: [{ id: "eu", rpmLimit: 0.5, tpmLimit: 1_000 }] });
  expect(hive.tryAcquire({ endpoint: "eu", tokens: 90 }).allowed).toBe(true);
  const { retryAfterMs = 0 } = hive.tryAcquire({ endpoint: "eu", tokens: 0 });
  await hives.clock.run(retryAfterMs);
  expect(hive.tryAcquire({ endpoint: "eu", tokens: 0 }).allowed).toBe(true);
});

test("a hive without a grant of its store yet explains that it has no capacity", async () => {
  const sync = memorySyncStore({ memory: new SyncMemory(hives.clock) });
  const hive = await hives.alone({
    endpoints: [{ id: "eu", rpmLimit: 30 }],
    sync,
    aggregation: "store",
    namespace: "test",
  });
  const { freesInMs, limitedBy } = hive.explain("eu");
  const decision = hive.tryAcquire({ endpoint: "eu", tokens: 1 });
  expect(decision).toMatchObject({ allowed: false, retryAfterMs: freesInMs, limitedBy });
});

test("an isolated agent never grants a call that is larger than the whole limit", async () => {
  const { limiter } = await swarm.join();
  limiter.setCapacity(RESOURCE, 1, 10_000);
  await swarm.clock.run(3_000);
  swarm.broker.stop();
  await swarm.clock.run(30_000);
  expect(limiter.status().mode).toBe("isolated");
  expect(limiter.tryAcquire(RESOURCE, 2)).toBe(false);
});
