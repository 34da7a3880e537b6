import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { SyncReport } from "@hivepace/core";
import { startOwnServer } from "@hivepace/servers";
import { describeOwnServer } from "@hivepace/servers/vitest";
import { tcpProxy, until } from "@hivepace/test-kit";
import { Redis } from "ioredis";
import { afterEach, describe, expect, test } from "vitest";
import { redisSync } from "../src/index.ts";
import { ask, calls, Opened, present, versions } from "./helpers.ts";

const opened = new Opened();
afterEach(opened.close);

const unavailable = { code: "SYNC_UNAVAILABLE" };
const eu = { kind: "endpoint", id: "eu", model: "claude" };
const counts = (requests: number, tokens = requests * 10) => [{ of: eu, requests, tokens }];

describeOwnServer("redis", (server) => {
  const open = (options = {}) => opened.store(redisSync({ url: server().url, ...options }));
  const admin = () => opened.client(new Redis(server().url));
  let namespaces = 0;
  const begin = async (store: Awaited<ReturnType<typeof open>>, change: Partial<SyncReport> = {}) => {
    const report = await present(store, { namespace: `t${namespaces++}`, ...change });
    let sequence = 1;
    const sync = (more: Partial<SyncReport>) => store.sync({ ...report, sequence: ++sequence, ...more });
    return { ...report, sync, key: `${report.namespace}:ratelimit:eu:claude` };
  };

  test.each([1, 1_000])("a sync of %i endpoints is one command and one round trip", async (count) => {
    const { sync } = await begin(await open());
    const things = Array.from({ length: count }, (_, i) => ({
      of: { kind: "endpoint", id: `e${i}` },
      requests: 1,
      tokens: 1,
    }));
    await sync({ counts: things });
    const before = await calls(server());
    await sync({ counts: things.map((thing) => ({ ...thing, requests: 2 })) });
    await sync({ counts: [], watched: things.map(({ of }) => of) });
    const { info: _, ...made } = Object.fromEntries(
      Object.entries(await calls(server())).map(([name, n]) => [name, n - (before[name] ?? 0)]),
    );
    // What the scripts call inside Redis is counted too; what came over the wire is EVALSHA.
    expect(made["evalsha"]).toBe(2);
    expect(made["eval"] ?? 0).toBe(0);
    expect([made["hset"], made["hmget"], made["time"]]).toEqual([count, 2 * count, 2]);
  });

  test("only what has changed carries numbers", async () => {
    const { sync } = await begin(await open());
    const things = Array.from({ length: 100 }, (_, i) => ({ kind: "endpoint", id: `endpoint-${i}` }));
    await sync({ counts: things.map((of) => ({ of, requests: 12_345_678, tokens: 1_234_567_890 })) });
    const bytes = async () => Number(/total_net_input_bytes:(\d+)/.exec(await admin().info("stats"))?.[1]);
    const cost = async (changed: number) => {
      const before = await bytes();
      const [first, rest] = [things.slice(0, changed), things.slice(changed)];
      await sync({ counts: first.map((of) => ({ of, requests: 12_345_679, tokens: 1_234_567_890 })), watched: rest });
      return (await bytes()) - before;
    };
    const [none, all] = [await cost(0), await cost(100)];
    expect(all - none).toBeGreaterThan(2_500);
  });

  test("a key is the seed's, one hash with window, total and a field for each incarnation, for a window and 5 seconds", async () => {
    const { sync, key, namespace } = await begin(await open(), {
      windowMs: 3_600_000,
      agentId: "a/b",
      incarnation: "x",
    });
    const redis = admin();
    const { window } = await sync({ counts: counts(3, 300) });
    await sync({ counts: counts(4, 400), agentId: "other" });
    expect(await redis.hgetall(key)).toEqual({
      window: `${window}`,
      total: "7 700 2",
      "a%2Fb/x": "3 300 2",
      "other/x": "4 400 3",
    });
    const ttl = await redis.pttl(key);
    expect(ttl).toBeLessThanOrEqual(3_605_000);
    expect(ttl).toBeGreaterThan(3_600_000);
    await sync({
      counts: [{ of: { kind: "endpoint", id: "eu" }, requests: 1, tokens: 1 }],
      windowMs: 60_000,
      window: Math.floor(Date.now() / 60_000),
    });
    await sync({ counts: [{ of: { kind: "key", id: "acme" }, requests: 1, tokens: 1 }] });
    expect((await redis.keys(`${namespace}*`)).sort()).toEqual(
      [`${namespace}:ratelimit-key:acme:default`, key, `${namespace}:ratelimit:eu:default`].sort(),
    );
    const minute = await redis.pttl(`${namespace}:ratelimit:eu:default`);
    expect(minute).toBeLessThanOrEqual(65_000);
    expect(minute).toBeGreaterThan(60_000);
  });

  test("the window is that of the server's clock, to the microsecond", async () => {
    const { sync } = await begin(await open(), { windowMs: 7 });
    for (let i = 0; i < 20; i++) {
      const [seconds, micros] = await admin().time();
      const { epochMs, window } = await sync({});
      const earlier = Number(seconds) * 1_000 + Number(micros) / 1_000;
      expect(epochMs).toBeGreaterThanOrEqual(earlier);
      expect(epochMs - earlier).toBeLessThan(5_000);
      expect(window).toBe(Math.floor(epochMs / 7));
    }
  });

  test("after SCRIPT FLUSH the next sync brings the script along and is counted once", async () => {
    const { sync } = await begin(await open());
    await sync({ counts: counts(3) });
    await admin().script("FLUSH");
    expect((await sync({ counts: counts(4) })).sums[0]).toMatchObject({ requests: 4, agents: 1 });
    const before = await calls(server());
    await sync({ counts: counts(5) });
    expect(((await calls(server()))["eval"] ?? 0) - (before["eval"] ?? 0)).toBe(0);
  });

  test("after FLUSHALL one is told that one's part is gone, and leaves it again", async () => {
    const { sync } = await begin(await open());
    await sync({ counts: counts(3) });
    await admin().flushall();
    expect((await sync({ watched: [eu] })).sums[0]).toMatchObject({ requests: 0, agents: 0, own: undefined });
    expect((await sync({ counts: counts(3) })).sums[0]).toMatchObject({ requests: 3, agents: 1 });
  });

  test("a key that is no hash is told, and spoils no other", async () => {
    const { sync, key } = await begin(await open());
    await admin().set(key, "mine");
    const us = { kind: "endpoint", id: "us" };
    const reply = await sync({ counts: [...counts(3), { of: us, requests: 1, tokens: 1 }] });
    expect(reply.sums).toMatchObject([
      { requests: 0, agents: 0, own: undefined, error: expect.stringContaining("WRONGTYPE") },
      { requests: 1, agents: 1, error: undefined },
    ]);
    expect(await admin().get(key)).toBe("mine");
    await admin().del(key);
    expect((await sync({ counts: counts(3) })).sums[0]).toMatchObject({ requests: 3, error: undefined });
  });

  test("a hash that someone else wrote into is begun anew", async () => {
    const { sync, key } = await begin(await open());
    for (const [field, value] of [
      ["total", "many"],
      ["window", "soon"],
      ["a/1", "?"],
    ] as const) {
      await sync({ counts: counts(3) });
      await admin().hset(key, field, value);
      await sync({ counts: counts(4) });
      const { sums } = await sync({ counts: counts(4) });
      expect(sums[0]).toMatchObject({ requests: 4, agents: 1, own: { requests: 4 } });
      await admin().del(key);
    }
  });

  test("a read-only replica refuses, with its reason", async () => {
    const replica = await startOwnServer("redis", { args: ["--replicaof", server().host, `${server().port}`] });
    opened.add(replica, () => replica.stop());
    const store = await opened.store(redisSync({ url: replica.url }));
    const { sync } = await begin(store);
    await expect(sync({ counts: counts(1) })).rejects.toMatchObject({
      ...unavailable,
      message: expect.stringContaining("READONLY"),
    });
    await ask(replica, "REPLICAOF", "NO", "ONE");
    await until(
      () =>
        sync({ counts: counts(2) }).then(
          () => true,
          () => false,
        ),
      "it is a master now",
    );
    expect((await sync({ counts: counts(2) })).sums[0]).toMatchObject({ requests: 2, agents: 1 });
  });

  test("out of memory: it refuses, with its reason, and counts once when there is room again", async () => {
    const { sync } = await begin(await open());
    await sync({ counts: counts(1) });
    await admin().config("SET", "maxmemory-policy", "noeviction");
    await admin().config("SET", "maxmemory", "1");
    try {
      await expect(sync({ counts: counts(2) })).rejects.toMatchObject({
        ...unavailable,
        message: expect.stringContaining("OOM"),
      });
    } finally {
      await admin().config("SET", "maxmemory", "0");
    }
    expect((await sync({ counts: counts(3) })).sums[0]).toMatchObject({ requests: 3, agents: 1 });
  });

  test("a server that accepts and never answers: it rejects after its time, and works on a new connection", async () => {
    const proxy = opened.add(await tcpProxy(server()), (it) => it.close());
    const store = await opened.store(
      redisSync({ host: proxy.host, port: proxy.port, syncTimeoutMs: 300, connectTimeoutMs: 300 }),
    );
    const { sync } = await begin(store);
    await sync({ counts: counts(1) });
    proxy.swallow();
    await expect(sync({ counts: counts(2) })).rejects.toMatchObject(unavailable);
    await expect(sync({ counts: counts(3) })).rejects.toMatchObject(unavailable);
    proxy.pass();
    expect((await sync({ counts: counts(4) })).sums[0]).toMatchObject({ requests: 4, agents: 1 });
    await until(() => proxy.connections === 1, "no connection is left behind");
  });

  test("a server that stands still: what was given up is not asked for again and again", async () => {
    const client = opened.client(new Redis(server().url));
    const store = await opened.store(redisSync(client, { syncTimeoutMs: 300 }));
    const { sync, key } = await begin(store);
    await sync({ counts: counts(1) });
    const before = (await calls(server()))["evalsha"] ?? 0;
    await server().pause();
    try {
      for (let i = 2; i < 8; i++) await expect(sync({ counts: counts(i) })).rejects.toMatchObject(unavailable);
    } finally {
      await server().resume();
    }
    await until(
      () =>
        sync({ counts: counts(9) }).then(
          () => true,
          () => false,
        ),
      "it answers again",
    );
    expect(await admin().hget(key, "total")).toBe("9 90 1");
    expect(((await calls(server()))["evalsha"] ?? 0) - before).toBeLessThanOrEqual(3);
  });

  test.each([0, 1, 5, 40])(
    "a connection that is cut %i bytes into the answer: it rejects, and counts once",
    async (bytes) => {
      const proxy = opened.add(await tcpProxy(server()), (it) => it.close());
      const clients = [
        await opened.store(redisSync({ host: proxy.host, port: proxy.port })),
        ...versions.map(({ Redis: Client }) =>
          redisSync(opened.client(new Client(`redis://${proxy.host}:${proxy.port}`, {}))),
        ),
      ];
      for (const opening of clients) {
        const { sync, key } = await begin(await opening);
        const things = Array.from({ length: 20 }, (_, i) => ({
          of: { kind: "endpoint", id: `e${i}` },
          requests: 1,
          tokens: 1,
        }));
        await sync({ counts: counts(1) });
        proxy.cutReplyAfter(bytes);
        // A lent client may send it again by itself: then it resolves.
        await sync({ counts: [...counts(2), ...things] }).catch((error) => expect(error).toMatchObject(unavailable));
        await until(
          () =>
            sync({ counts: counts(3) }).then(
              () => true,
              () => false,
            ),
          "it works again",
        );
        expect(await admin().hget(key, "total")).toBe("3 30 1");
      }
    },
  );

  test("gone at the start: opening rejects with the cause, or goes on without", async () => {
    await server().kill();
    await expect(open({ connectTimeoutMs: 1_000 })).rejects.toMatchObject({
      ...unavailable,
      cause: expect.objectContaining({ code: "ECONNREFUSED" }),
    });
    const store = await open({ waitForBroker: true });
    await expect(present(store)).rejects.toMatchObject(unavailable);
    await server().start();
    const { sync } = await begin(store);
    expect((await sync({ counts: counts(1) })).sums[0]).toMatchObject({ requests: 1 });
  });

  describe.each(versions)("a client of $version that is lent", ({ Redis: Client }) => {
    const lend = (options = {}) => opened.client(new Client(server().url, options));
    const listeners = (client: InstanceType<typeof Client>) =>
      client.eventNames().map((name) => [name, client.listenerCount(name)]);

    test("stays open at close, and is left without our listeners", async () => {
      const client = lend();
      await client.ping();
      const before = listeners(client);
      const store = await redisSync(client);
      const { sync } = await begin(store);
      await sync({ counts: counts(1) });
      await store.close();
      expect(listeners(client)).toEqual(before);
      expect(await client.ping()).toBe("PONG");
      // One that was still connecting when it was lent, too.
      const connecting = lend();
      await (await redisSync(connecting)).close();
      expect(listeners(connecting)).toEqual(before);
    });

    test("is connected if it was not; its key prefix stands before the keys", async () => {
      const store = await opened.store(redisSync(lend({ lazyConnect: true, keyPrefix: "mine:" })));
      const { sync, key } = await begin(store);
      await sync({ counts: counts(1) });
      expect(await admin().hget(`mine:${key}`, "total")).toBe("1 10 1");
    });

    test("is not filled with reports while it is away", async () => {
      const client = lend();
      const store = await opened.store(redisSync(client));
      const { sync } = await begin(store);
      await server().kill();
      await until(() => client.status !== "ready", "the outage is noticed");
      for (let i = 0; i < 20; i++) await expect(sync({ counts: counts(i) })).rejects.toMatchObject(unavailable);
      await server().start();
      const before = (await calls(server()))["evalsha"] ?? 0;
      await until(() => client.status === "ready", "it is back");
      await sync({ counts: counts(30) });
      expect(((await calls(server()))["evalsha"] ?? 0) - before).toBeLessThanOrEqual(3);
    });

    test("that its owner closed is unavailable", async () => {
      const client = lend();
      const store = await opened.store(redisSync(client));
      client.disconnect();
      await until(() => client.status === "end", "it is closed");
      await expect(present(store)).rejects.toMatchObject(unavailable);
      await expect(redisSync(client)).rejects.toMatchObject(unavailable);
    });
  });

  test.each(["closed", "left open", "never used", "away", "lent"])(
    "a process that opened a store ends by itself: %s",
    async (how) => {
      const fixture = fileURLToPath(new URL("fixtures/open-and-close.ts", import.meta.url));
      const args = [
        "--conditions",
        "@hivepace/source",
        "--import",
        "tsx",
        fixture,
        how,
        server().host,
        `${server().port}`,
      ];
      const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: 60_000 });
      expect(stdout).toBe("done\n");
    },
  );
});
