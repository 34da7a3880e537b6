import type { SyncStore } from "@hivepace/core";
import { type OwnServer, startOwnServer } from "@hivepace/servers";
import { describeOwnServer } from "@hivepace/servers/vitest";
import { redisSync } from "@hivepace/sync-redis";
import { type TcpProxy, tcpProxy, until, warnings } from "@hivepace/test-kit";
import { Redis } from "ioredis";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type RealInstance, seen, startInstance, truth, twoSyncs } from "./support/real.ts";

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
    // One on a connection of its own, one on a client that it was lent.
    const own = redisSync({ host, port, syncTimeoutMs: 300, connectTimeoutMs: 300 });
    stores = await Promise.all([own, redisSync(client, { syncTimeoutMs: 300 })]);
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

  /** Trouble begins: decisions go on, the view ages and says so once. It ends: two syncs later all is right. */
  async function survive(begin: () => Promise<unknown>, end: () => Promise<unknown>): Promise<string[]> {
    const codes = await warnings(async () => {
      await begin();
      await until(() => {
        for (const one of instances) one.use(1);
        return instances.every(({ view }) => view.status().state === "stale");
      }, "the view is stale");
      for (const { view } of instances) expect(view.get("eu", "claude").ageMs).toBeGreaterThan(400);
      const failures = instances.map(({ view }) => view.status().failures);
      await until(() => instances.every(({ view }, i) => view.status().failures > (failures[i] ?? 0)), "it goes on");
      await end();
      await twoSyncs(instances);
    });
    const expected = truth(instances);
    for (const one of instances) expect(seen(one)).toEqual(expected);
    expect(await tell((redis) => redis.hget(KEY, "total"))).toBe(`${expected.rpm} ${expected.tpm} 2`);
    return codes;
  }

  const onceEach = ["HIVEPACE_SYNC_STALE", "HIVEPACE_SYNC_STALE"];

  test("Redis is killed in the middle of syncs and comes back with empty memory", async () => {
    let isOver = false;
    // Somebody is always in the middle of a sync.
    const busy = Promise.all(
      instances.map(async (one) => {
        while (!isOver) {
          one.use(1);
          await one.view.refresh();
          await new Promise((resolve) => setTimeout(resolve, 1));
        }
      }),
    );
    const codes = await survive(
      () => server().kill(),
      async () => {
        await server().start();
        isOver = true;
        await busy;
      },
    );
    expect(codes).toEqual(onceEach);
  });

  test("Redis accepts and never answers", async () => {
    const codes = await survive(
      async () => proxy.swallow(),
      async () => {
        proxy.pass();
        // The lent client does not know that its connection is dead: that is for its owner to find out.
        proxy.cut();
      },
    );
    expect(codes).toEqual(onceEach);
  });

  test("Redis stands still", async () => {
    expect(
      await survive(
        () => server().pause(),
        () => server().resume(),
      ),
    ).toEqual(onceEach);
  });

  test("nobody gets through", async () => {
    const codes = await survive(
      async () => proxy.refuse(true),
      async () => proxy.refuse(false),
    );
    expect(codes).toEqual(onceEach);
  });

  test("Redis is a read-only replica", async () => {
    const other = await startOwnServer("redis");
    master = other;
    const codes = await survive(
      () => tell((redis) => redis.replicaof(other.host, other.port)),
      () => tell((redis) => redis.replicaof("NO", "ONE")),
    );
    expect(codes).toEqual(onceEach);
  });

  test("Redis is out of memory", async () => {
    const codes = await survive(
      () => tell((redis) => redis.config("SET", "maxmemory", "1")),
      () => tell((redis) => redis.config("SET", "maxmemory", "0")),
    );
    expect(codes).toEqual(onceEach);
  });

  test("the password is no longer right", async () => {
    const codes = await survive(
      () =>
        tell(async (redis) => {
          await redis.config("SET", "requirepass", "other");
          await redis.call("CLIENT", "KILL", "TYPE", "normal").catch(() => {});
        }),
      () => tell((redis) => redis.config("SET", "requirepass", ""), "other"),
    );
    expect(codes).toEqual(onceEach);
  });

  test("somebody has put something else where our key is: that endpoint ages alone, and is told once", async () => {
    const codes = await warnings(async () => {
      await tell((redis) => redis.set(KEY, "mine"));
      await until(() => {
        for (const one of instances) one.use(1);
        return instances.every(({ view }) => view.get("eu", "claude").ageMs > 1_000);
      }, "it ages");
      for (const { view } of instances) {
        expect(view.get("us").ageMs).toBeLessThan(1_000);
        expect(view.status().state).toBe("fresh");
      }
      await tell((redis) => redis.del(KEY));
      await twoSyncs(instances);
    });
    for (const one of instances) expect(seen(one)).toEqual(truth(instances));
    expect(codes).toEqual(["HIVEPACE_SYNC_PARTIAL", "HIVEPACE_SYNC_PARTIAL"]);
  });

  describe.each([
    ["FLUSHALL", (redis: Redis) => redis.flushall()],
    ["SCRIPT FLUSH", (redis: Redis) => redis.script("FLUSH")],
    ["both", (redis: Redis) => Promise.all([redis.flushall(), redis.script("FLUSH")])],
  ])("%s", (_, act) => {
    test("two syncs later all is right, and nobody was told that anything was wrong", async () => {
      const codes = await warnings(async () => {
        for (let round = 0; round < 5; round++) {
          for (const one of instances) one.use(round);
          await tell<unknown>(act);
          await twoSyncs(instances);
          for (const one of instances) expect(seen(one)).toEqual(truth(instances));
        }
      });
      expect(codes).toEqual([]);
    });
  });

  test.each([0, 3, 30])(
    "connections are cut %i bytes into an answer, again and again: all is counted once",
    async (bytes) => {
      for (let round = 0; round < 10; round++) {
        for (const one of instances) one.use(1);
        proxy.cutReplyAfter(bytes);
        await Promise.all(instances.map(({ view }) => view.refresh()));
      }
      await twoSyncs(instances);
      for (const one of instances) expect(seen(one)).toEqual(truth(instances));
      expect(await tell((redis) => redis.hget(KEY, "total"))).toBe(`${truth(instances).rpm} ${truth(instances).tpm} 2`);
    },
  );
});
