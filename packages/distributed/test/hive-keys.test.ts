import { memorySyncStore, SyncMemory } from "@hivepace/core/testing";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Hive } from "../src/index.ts";
import { TestHives, watch } from "./support/hives.ts";

let hives: TestHives;
let memory: SyncMemory;
beforeEach(() => {
  hives = new TestHives();
  memory = new SyncMemory(hives.clock);
});
afterEach(async () => {
  await hives.close();
  expect(hives.clock.pending).toBe(0);
});

const options = {
  endpoints: [{ id: "eu", rpmLimit: 1_000 }],
  keys: { acme: { rateLimitRpm: 10, rateLimitTpm: 1_000 } },
};
const two = async (): Promise<[Hive, Hive]> => {
  const join = () => hives.alone({ ...options, sync: memorySyncStore({ memory }), namespace: "test" });
  const both: [Hive, Hive] = [await join(), await join()];
  await hives.clock.run(3_000);
  return both;
};
const take = (hive: Hive, most = 100): number => {
  let taken = 0;
  while (taken < most && hive.tryAcquire({ endpoint: "eu", key: "acme", tokens: 1 }).allowed) taken++;
  return taken;
};

test("with a store a key has one limit for all, about a sync late", async () => {
  const [first, second] = await two();
  expect(take(first, 6)).toBe(6);
  expect(take(second, 1)).toBe(1);
  await hives.clock.run(3_000);
  expect(take(second)).toBe(3);
  await hives.clock.run(3_000);
  expect(take(first)).toBe(0);
  expect(first.tryAcquire({ endpoint: "eu", key: "acme", tokens: 1 })).toMatchObject({
    allowed: false,
    limitedBy: "key-rpm",
  });
});

test("in the next window it has its whole limit again, also for those who wait", async () => {
  const [first, second] = await two();
  take(first, 9);
  take(second, 1);
  await hives.clock.run(3_000);
  const waiting = watch(second.acquire({ endpoint: "eu", key: "acme", tokens: 1 }));
  await hives.clock.run(1_000);
  expect(waiting.lease).toBeUndefined();
  await hives.clock.run(60_000);
  expect(waiting.lease).toBeDefined();
  expect(take(second)).toBe(9);
});

test("when the store is away each process has the whole limit of the next window", async () => {
  const [first, second] = await two();
  take(first, 9);
  take(second, 1);
  await hives.clock.run(3_000);
  expect(take(second)).toBe(0);
  for (const hive of [first, second]) expect(hive.status().sync?.state).toBe("fresh");
  memory.pages.clear();
  await hives.clock.run(60_000);
  expect(take(first, 3)).toBe(3);
});

test("a key whose limits change while it runs keeps what was counted", async () => {
  const [first, second] = await two();
  take(first, 6);
  take(second, 1);
  await hives.clock.run(3_000);
  for (const hive of [first, second]) hive.reconfigure({ keys: { acme: { rateLimitRpm: 8 } } });
  await hives.clock.run(3_000);
  expect(take(second)).toBe(1);
});
