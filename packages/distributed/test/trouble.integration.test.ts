import { setImmediate as nextTurn } from "node:timers/promises";
import type { SyncStore } from "@hivepace/core";
import { type OwnServer, startOwnServer } from "@hivepace/servers";
import { describeOwnServer } from "@hivepace/servers/vitest";
import { redisSync } from "@hivepace/sync-redis";
import { type TcpProxy, tcpProxy, until, warnings } from "@hivepace/test-kit";
import { Redis } from "ioredis";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { oneSyncEach, type RealInstance, seen, startInstance, truth, twoSyncsAfterReturn } from "./support/real.ts";

const KEY = "trouble:ratelimit:eu:claude";

describeOwnServer("redis", (server) => {
  let proxy: TcpProxy;
  let client: Redis;
  let stores: SyncStore[] = [];
  let instances: RealInstance[] = [];
  let master: OwnServer | undefined;
  const tell = async <T>(work: (redis: Redis) => Promise<T>, password?: string): Promise<T> => {
    const redis = new Redis(server().url, password === undefined ? {} : { password });
    try {
      return await work(redis);
    } finally {
      redis.disconnect();
    }
  };

  beforeEach(async () => {
    proxy = await tcpProxy(server());
    const { host, port } = proxy;
    client = new Redis(port, host, { retryStrategy: () => 50 });
    client.on("error", () => {});
    // One store has its own connection; the other borrows a client from the test.
    const own = redisSync({ host, port, syncTimeoutMs: 1_000, connectTimeoutMs: 60_000 });
    stores = await Promise.all([own, redisSync(client, { syncTimeoutMs: 1_000 })]);
    await tell((redis) => redis.flushall());
    instances = stores.map((store, i) => startInstance(store, `agent ${i}`, "trouble"));
    for (const one of instances) one.use(10);
    await until(() => instances.every((one) => seen(one).rpm === 20), "both see both");
  });
  afterEach(async () => {
    await Promise.all(instances.map(({ view }) => view.close()));
    await Promise.all(stores.map((store) => store.close()));
    client.disconnect();
    await proxy.close();
    await master?.stop();
    master = undefined;
  });

  /**
   * Checks an outage: decisions continue, the view ages, and each instance warns once. At least the store with its own
   * connection names the reason. Two syncs after the outage all views are correct.
   */
  async function survive(reason: RegExp, begin: () => Promise<unknown>, end: () => Promise<unknown>): Promise<void> {
    const told: string[] = [];
    const note = ({ message }: Error) => told.push(message);
    process.on("warning", note);
    const codes = await warnings(async () => {
      await begin();
      await until(() => {
        for (const one of instances) one.use(1);
        return instances.every(({ view }) => view.status().state === "stale");
      }, "the view is stale");
      for (const { view } of instances) expect(view.get("eu", "claude").ageMs).toBeGreaterThan(1_500);
      const failures = instances.map(({ view }) => view.status().failures);
      await until(() => instances.every(({ view }, i) => view.status().failures > (failures[i] ?? 0)), "it goes on");
      await end();
      await twoSyncsAfterReturn(instances);
    }).finally(() => process.off("warning", note));
    const expected = truth(instances);
    for (const one of instances) expect(seen(one)).toEqual(expected);
    expect(await tell((redis) => redis.hget(KEY, "total"))).toBe(`${expected.rpm} ${expected.tpm} 2`);
    expect(codes).toEqual(["HIVEPACE_SYNC_STALE", "HIVEPACE_SYNC_STALE"]);
    expect(told).toContainEqual(expect.stringMatching(reason));
  }

  test("Redis is killed in the middle of syncs and comes back with empty memory", async () => {
    let isOver = false;
    // Syncs without a pause, so that the kill interrupts a sync.
    const busy = Promise.all(
      instances.map(async (one) => {
        while (!isOver) {
          one.use(1);
          await one.view.refresh();
          await nextTurn();
        }
      }),
    );
    await survive(
      /ECONNREFUSED|ECONNRESET|closed/,
      () => server().kill(),
      async () => {
        await server().start();
        isOver = true;
        await busy;
      },
    );
  });

  test("Redis accepts and never answers", () =>
    survive(
      /no answer within/,
      async () => proxy.swallow(),
      async () => {
        proxy.pass();
        // The borrowed client does not notice that its connection is dead: detecting that is up to its owner.
        proxy.cut();
      },
    ));

  test("Redis stands still", () =>
    survive(
      /no answer within/,
      () => server().pause(),
      () => server().resume(),
    ));

  test("no instance reaches Redis", () =>
    survive(
      /ECONNRESET|closed/,
      async () => proxy.refuse(true),
      async () => proxy.refuse(false),
    ));

  test("Redis is a read-only replica", async () => {
    const other = await startOwnServer("redis");
    master = other;
    await survive(
      /READONLY/,
      () => tell((redis) => redis.replicaof(other.host, other.port)),
      () => tell((redis) => redis.replicaof("NO", "ONE")),
    );
  });

  test("Redis is out of memory", () =>
    survive(
      /OOM/,
      () => tell((redis) => redis.config("SET", "maxmemory", "1")),
      () => tell((redis) => redis.config("SET", "maxmemory", "0")),
    ));

  test("the password is no longer valid", () =>
    survive(
      /refused the credentials/,
      () =>
        tell(async (redis) => {
          await redis.config("SET", "requirepass", "other");
          await redis.call("CLIENT", "KILL", "TYPE", "normal").catch(() => {});
        }),
      () => tell((redis) => redis.config("SET", "requirepass", ""), "other"),
    ));

  test("another value stands at our key: that endpoint ages alone, with one warning", async () => {
    const codes = await warnings(async () => {
      await tell((redis) => redis.set(KEY, "mine"));
      await until(() => {
        for (const one of instances) one.use(1);
        const aged = ({ view }: RealInstance) => view.get("eu", "claude").ageMs > 1_000 && view.get("us").ageMs < 1_000;
        return instances.every((one) => aged(one) && one.view.status().state === "fresh");
      }, "it ages, and only it");
      await tell((redis) => redis.del(KEY));
      await oneSyncEach(instances);
      await oneSyncEach(instances);
    });
    for (const one of instances) expect(seen(one)).toEqual(truth(instances));
    expect(codes).toEqual(["HIVEPACE_SYNC_PARTIAL", "HIVEPACE_SYNC_PARTIAL"]);
  });

  describe.each([
    ["FLUSHALL", (redis: Redis) => redis.flushall()],
    ["SCRIPT FLUSH", (redis: Redis) => redis.script("FLUSH")],
    ["both", (redis: Redis) => Promise.all([redis.flushall(), redis.script("FLUSH")])],
  ])("%s", (_, act) => {
    test("two syncs later the view is correct, without any warning", async () => {
      const codes = await warnings(async () => {
        for (let round = 0; round < 5; round++) {
          for (const one of instances) one.use(round);
          await tell<unknown>(act);
          await oneSyncEach(instances);
          await oneSyncEach(instances);
          for (const one of instances) expect(seen(one)).toEqual(truth(instances));
        }
      });
      expect(codes).toEqual([]);
    });
  });

  test.each([0, 3, 30])(
    "connections are cut %i bytes into an answer, repeatedly: all usage is counted once",
    async (bytes) => {
      for (let round = 0; round < 10; round++) {
        for (const one of instances) one.use(1);
        proxy.cutReplyAfter(bytes);
        await Promise.all(instances.map(({ view }) => view.refresh()));
      }
      await twoSyncsAfterReturn(instances);
      for (const one of instances) expect(seen(one)).toEqual(truth(instances));
      expect(await tell((redis) => redis.hget(KEY, "total"))).toBe(`${truth(instances).rpm} ${truth(instances).tpm} 2`);
    },
  );
});
