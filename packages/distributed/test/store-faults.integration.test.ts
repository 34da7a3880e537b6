import type { SyncStore } from "@hivepace/core";
import { describeOwnServer } from "@hivepace/servers/vitest";
import { redisSync } from "@hivepace/sync-redis";
import { until } from "@hivepace/test-kit";
import { Redis } from "ioredis";
import { afterEach, beforeEach, expect, test } from "vitest";
import { HookedAllocator } from "./support/hooked-allocator.ts";
import { StoreSwarm } from "./support/store-swarm.ts";

const AGENTS = 30;
const LIMIT = 200;
const WINDOW_MS = 5_000;
const HEARTBEAT_MS = 200;

/** Agents that get their limit from a Redis with faults. Whatever happens, the limit holds in every window. */
describeOwnServer("redis", (server) => {
  let store: SyncStore;
  let hooked: HookedAllocator;
  let swarm: StoreSwarm;
  let client: Redis;
  let run = 0;

  beforeEach(async () => {
    store = await redisSync({ url: server().url, syncTimeoutMs: 400, connectTimeoutMs: 60_000 });
    hooked = new HookedAllocator(store);
    client = new Redis(server().url);
    client.on("error", () => {});
    const base = { agents: AGENTS, limit: LIMIT, windowMs: WINDOW_MS, heartbeatIntervalMs: HEARTBEAT_MS };
    swarm = new StoreSwarm({ ...base, namespace: `faults-${run++}`, stores: [hooked] });
    await swarm.start();
    await until(() => swarm.sent.length > LIMIT, "a window is used");
  });
  afterEach(async () => {
    await swarm.close();
    await store.close();
    client.disconnect();
  });

  const more = async (count: number, what: string) => {
    const before = swarm.sent.length;
    await until(() => swarm.sent.length >= before + count, what);
  };
  const learned = async () => {
    const { learning } = hooked;
    return { again: () => until(() => hooked.learning > learning, "it learns") };
  };
  const holds = () => expect(swarm.max).toBeLessThanOrEqual(1.05);

  test("Redis is killed, and comes back empty after a while: all agents continue, it learns, the limit holds", async () => {
    const learning = await learned();
    await server().kill();
    await until(() => swarm.limiters.every((one) => one.status().mode === "isolated"), "all know that it is away");
    await more(20, "calls go on without it");
    await server().start();
    await learning.again();
    await more(LIMIT, "a window is used again");
    holds();
  });

  test("Redis forgets everything: it learns, the limit holds", async () => {
    const learning = await learned();
    await client.flushall();
    await learning.again();
    await more(LIMIT, "a window is used again");
    holds();
  });

  test("a replica takes over that has missed a while: it learns, the limit holds", async () => {
    const keys = await client.keys(`faults-${run - 1}:*`);
    const dumps = await Promise.all(keys.map((key) => client.dumpBuffer(key)));
    await more(LIMIT / 4, "time passes");
    const learning = await learned();
    const batch = client.multi();
    for (const [i, key] of keys.entries()) {
      batch.del(key);
      const dump = dumps[i];
      if (dump) batch.restore(key, 600_000, dump);
    }
    await batch.exec();
    await learning.again();
    await more(LIMIT, "a window is used again");
    holds();
  });

  test("Redis loses its scripts: no caller notices", async () => {
    await client.script("FLUSH");
    await more(LIMIT, "a window is used");
    // On a busy machine a call may take too long, which says nothing of the scripts.
    expect(hooked.failures.map(String).filter((failure) => !/no answer/.test(failure))).toEqual([]);
    holds();
  });

  test("Redis stands still: no request waits for it, and the limit holds", async () => {
    const learning = await learned();
    await client.call("CLIENT", "PAUSE", 3_000, "ALL");
    await until(
      () => swarm.limiters.every((one) => one.status().mode === "isolated"),
      "all know that it does not answer",
    );
    await more(20, "calls go on without it");
    await learning.again();
    await more(LIMIT, "a window is used again");
    holds();
  });

  test("a fifth of the calls fails: the limit holds", async () => {
    let count = 0;
    hooked.fails = () => ++count % 5 === 0;
    await more(2 * LIMIT, "two windows are used");
    holds();
  });
});
