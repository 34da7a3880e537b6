import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { SyncReport } from "@hivepace/core";
import { clientVersions, ioredisVersions, Opened } from "@hivepace/redis-client/testing";
import { startOwnServer } from "@hivepace/servers";
import { describeOwnServer } from "@hivepace/servers/vitest";
import { tcpProxy, until } from "@hivepace/test-kit";
import { Redis } from "ioredis";
import { afterEach, describe, expect, test } from "vitest";
import { redisSync } from "../src/index.ts";
import { ask, calls, present } from "./helpers.ts";

const opened = new Opened();
afterEach(opened.close);

const unavailable = { code: "SYNC_UNAVAILABLE" };
const eu = { kind: "endpoint", id: "eu", model: "claude" };
const counts = (requests: number, tokens = requests * 10) => [{ of: eu, requests, tokens }];
const works = (sync: Promise<unknown>) =>
  sync.then(
    () => true,
    () => false,
  );
/** Whether ioredis sends the command while it opens a connection, as the test's own clients do. */
const isOfOpening = (command: string) => /^(info|hello|auth|select|client|command)\b/.test(command);

describeOwnServer("redis", (server) => {
  const open = (options = {}) => opened.open(redisSync({ url: server().url, ...options }));
  const admin = () => opened.client(new Redis(server().url));
  /** Returns the time of the server's clock in milliseconds. */
  const time = async (redis = admin()) => {
    const [seconds, micros] = await redis.time();
    return Number(seconds) * 1_000 + Number(micros) / 1_000;
  };
  let namespaces = 0;
  const begin = async (store: Awaited<ReturnType<typeof open>>, change: Partial<SyncReport> = {}) => {
    const report = await present(store, { namespace: `t${namespaces++}`, ...change });
    let sequence = 1;
    const sync = (more: Partial<SyncReport>) => store.sync({ ...report, sequence: ++sequence, ...more });
    return { ...report, sync, key: `${report.namespace}:ratelimit:eu:claude` };
  };

  test.each([
    [1, 1],
    [1_000, 1],
    [2_500, 3],
  ])("a sync of %i endpoints is one round trip, of %i command(s)", async (count, commands) => {
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
    const after = await calls(server());
    const made = Object.entries(after).map(([name, total]) => [name, total - (before[name] ?? 0)] as const);
    // Commands called by the script count too. Of the commands sent over the network, only EVALSHA is expected.
    expect(Object.fromEntries(made.filter(([name, total]) => total > 0 && !isOfOpening(name)))).toEqual({
      evalsha: 2 * commands,
      time: 2 * commands,
      hmget: 2 * count,
      hset: count,
    });
  });

  test("only changed keys carry numbers", async () => {
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

  test("a key is one hash with window, total and a field for each incarnation", async () => {
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
    await sync({ counts: [{ of: { kind: "endpoint", id: "eu" }, requests: 1, tokens: 1 }] });
    await sync({ counts: [{ of: { kind: "key", id: "acme" }, requests: 1, tokens: 1 }] });
    expect((await redis.keys(`${namespace}*`)).sort()).toEqual(
      [`${namespace}:ratelimit-key:acme:default`, key, `${namespace}:ratelimit:eu:default`].sort(),
    );
  });

  test.each([
    [60_000, 65_000],
    [3_600_000, 3_605_000],
  ])("a key for a window of %i ms lives for %i ms", async (windowMs, ttlMs) => {
    const { sync, key } = await begin(await open(), { windowMs });
    const redis = admin();
    /** Returns times of the server's clock before and after the first count; retries if the window ended in between. */
    const count = async (): Promise<{ from: number; to: number }> => {
      const [from, { window }] = [await time(redis), await sync({})];
      await sync({ window, counts: counts(1) });
      const to = await time(redis);
      const { sums } = await sync({ window, counts: counts(2) });
      return sums[0]?.requests === 2 ? { from, to } : count();
    };
    const { from, to } = await count();
    const [before, left, after] = [await time(redis), await redis.pttl(key), await time(redis)];
    // The time to live has a resolution of one millisecond.
    expect(after + left - ttlMs).toBeGreaterThanOrEqual(from - 1);
    expect(before + left - ttlMs).toBeLessThanOrEqual(to + 1);
  });

  test("the window follows the server's clock, to the microsecond", async () => {
    const { sync } = await begin(await open(), { windowMs: 7 });
    for (let i = 0; i < 20; i++) {
      const earlier = await time();
      const { epochMs, window } = await sync({});
      expect(epochMs).toBeGreaterThanOrEqual(earlier);
      expect(epochMs).toBeLessThanOrEqual(await time());
      expect(window).toBe(Math.floor(epochMs / 7));
    }
  });

  test("after SCRIPT FLUSH the next sync sends the script again and is counted once", async () => {
    const { sync } = await begin(await open());
    await sync({ counts: counts(3) });
    await admin().script("FLUSH");
    expect((await sync({ counts: counts(4) })).sums[0]).toMatchObject({ requests: 4, agents: 1 });
    const before = await calls(server());
    await sync({ counts: counts(5) });
    expect(((await calls(server()))["eval"] ?? 0) - (before["eval"] ?? 0)).toBe(0);
  });

  test("after FLUSHALL an agent learns that its counts are missing and stores them again", async () => {
    const { sync } = await begin(await open());
    await sync({ counts: counts(3) });
    await admin().flushall();
    expect((await sync({ watched: [eu] })).sums[0]).toMatchObject({ requests: 0, agents: 0, own: undefined });
    expect((await sync({ counts: counts(3) })).sums[0]).toMatchObject({ requests: 3, agents: 1 });
  });

  test("a key that is not a hash is reported and affects no other key", async () => {
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

  test("a hash with foreign fields is replaced", async () => {
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

  test("a read-only replica rejects with its reason", async () => {
    const replica = await startOwnServer("redis", { args: ["--replicaof", server().host, `${server().port}`] });
    opened.add(replica, () => replica.stop());
    const store = await opened.open(redisSync({ url: replica.url }));
    const { sync } = await begin(store);
    await expect(sync({ counts: counts(1) })).rejects.toMatchObject({
      ...unavailable,
      message: expect.stringContaining("READONLY"),
    });
    await ask(replica, "REPLICAOF", "NO", "ONE");
    await until(() => works(sync({ counts: counts(2) })), "the replica is a master");
    expect((await sync({ counts: counts(2) })).sums[0]).toMatchObject({ requests: 2, agents: 1 });
  });

  test("without free memory a sync rejects with the reason, and counts once when memory is available again", async () => {
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

  test.each(["ioredis", "redis"] as const)(
    "with a server that never answers, a sync rejects after its timeout, and later works on a new connection (%s)",
    async (client) => {
      const proxy = opened.add(await tcpProxy(server()), (it) => it.close());
      const store = await opened.open(
        redisSync({ host: proxy.host, port: proxy.port, client, syncTimeoutMs: 1_000, connectTimeoutMs: 1_000 }),
      );
      const { sync } = await begin(store);
      await sync({ counts: counts(1) });
      proxy.swallow();
      await expect(sync({ counts: counts(2) })).rejects.toMatchObject(unavailable);
      await expect(sync({ counts: counts(3) })).rejects.toMatchObject(unavailable);
      proxy.pass();
      await until(() => works(sync({ counts: counts(4) })), "a sync works again");
      expect((await sync({ watched: [eu] })).sums[0]).toMatchObject({ requests: 4, agents: 1 });
      await until(() => proxy.connections === 1, "no connection is left behind");
    },
  );

  test("with a frozen server, timed-out calls are not repeated", async () => {
    const client = opened.client(new Redis(server().url));
    const store = await opened.open(redisSync(client, { syncTimeoutMs: 1_000 }));
    const { sync, key } = await begin(store);
    await sync({ counts: counts(1) });
    const before = (await calls(server()))["evalsha"] ?? 0;
    await server().pause();
    try {
      for (let i = 2; i < 8; i++) await expect(sync({ counts: counts(i) })).rejects.toMatchObject(unavailable);
    } finally {
      await server().resume();
    }
    await until(() => works(sync({ counts: counts(9) })), "Redis answers again");
    expect(await admin().hget(key, "total")).toBe("9 90 1");
    expect(((await calls(server()))["evalsha"] ?? 0) - before).toBeLessThanOrEqual(3);
  });

  test.each([0, 1, 5, 40])(
    "with a connection cut %i bytes into the answer, a sync rejects and counts once",
    async (bytes) => {
      type Place = { readonly host: string; readonly port: number };
      const openings = [
        (place: Place) => opened.open(redisSync({ host: place.host, port: place.port })),
        (place: Place) => opened.open(redisSync({ host: place.host, port: place.port, client: "redis" })),
        ...clientVersions.map((version) => (place: Place) => redisSync(opened.lend(version.server(place)))),
      ];
      for (const open of openings) {
        // A proxy for each client: the cut must not meet the connections of another one.
        const proxy = opened.add(await tcpProxy(server()), (it) => it.close());
        const { sync, key } = await begin(await open({ host: proxy.host, port: proxy.port }));
        const things = Array.from({ length: 20 }, (_, i) => ({
          of: { kind: "endpoint", id: `e${i}` },
          requests: 1,
          tokens: 1,
        }));
        await sync({ counts: counts(1) });
        proxy.cutReplyAfter(bytes);
        // A lent client may resend the command by itself; then the sync resolves.
        await sync({ counts: [...counts(2), ...things] }).catch((error) => expect(error).toMatchObject(unavailable));
        await until(() => works(sync({ counts: counts(3) })), "a sync works again");
        expect(await admin().hget(key, "total")).toBe("3 30 1");
      }
    },
  );

  test("without Redis, opening rejects with the cause, or resolves with waitForBroker", async () => {
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

  test.each(clientVersions)(
    "a client of $version stays open after close, with its original listeners only",
    async (version) => {
      const lent = version.server(server());
      const client = opened.lend(lent);
      await lent.ping();
      const before = lent.listeners();
      const store = await redisSync(client);
      await (await begin(store)).sync({ counts: counts(1) });
      await store.close();
      expect(lent.listeners()).toEqual(before);
      expect(await lent.ping()).toBe("PONG");
      lent.close();
      await until(async () => !(await works(redisSync(client))), "the client is closed");
    },
  );

  test.each(clientVersions)("a client of $version queues no reports during an outage", async (version) => {
    const lent = version.server(server());
    const store = await opened.open(redisSync(opened.lend(lent)));
    const { sync } = await begin(store);
    await server().kill();
    await until(async () => !(await works(sync({ counts: counts(1) }))), "the outage is noticed");
    for (let i = 0; i < 20; i++) await expect(sync({ counts: counts(i) })).rejects.toMatchObject(unavailable);
    await server().start();
    await until(() => works(sync({ counts: counts(30) })), "Redis is back");
    // A restarted server counts from 0: one EVALSHA, and one EVAL that loads the script.
    expect((await calls(server()))["evalsha"]).toBe(1);
  });

  describe.each(ioredisVersions)("a client of $version that is lent", ({ Redis: Client }) => {
    const lend = (options = {}) => opened.client(new Client(server().url, options));
    const listeners = (client: InstanceType<typeof Client>) =>
      client.eventNames().map((name) => [name, client.listenerCount(name)]);

    test("stays open after close, without listeners of the store", async () => {
      const client = lend();
      await client.ping();
      const before = listeners(client);
      const store = await redisSync(client);
      const { sync } = await begin(store);
      await sync({ counts: counts(1) });
      await store.close();
      expect(listeners(client)).toEqual(before);
      expect(await client.ping()).toBe("PONG");
      // The same holds for a client that was still connecting when it was lent.
      const connecting = lend();
      await (await redisSync(connecting)).close();
      expect(listeners(connecting)).toEqual(before);
    });

    test("is connected if necessary, and its key prefix applies to the keys", async () => {
      const store = await opened.open(redisSync(lend({ lazyConnect: true, keyPrefix: "mine:" })));
      const { sync, key } = await begin(store);
      await sync({ counts: counts(1) });
      expect(await admin().hget(`mine:${key}`, "total")).toBe("1 10 1");
    });

    test("queues no reports during an outage", async () => {
      const client = lend();
      const store = await opened.open(redisSync(client));
      const { sync } = await begin(store);
      await server().kill();
      await until(() => client.status !== "ready", "the outage is noticed");
      for (let i = 0; i < 20; i++) await expect(sync({ counts: counts(i) })).rejects.toMatchObject(unavailable);
      await server().start();
      await until(() => client.status === "ready", "Redis is back");
      await sync({ counts: counts(30) });
      // A restarted server counts from 0, so it has received only this report.
      expect((await calls(server()))["evalsha"]).toBe(1);
    });

    test("is unavailable after its owner closed it", async () => {
      const client = lend();
      const store = await opened.open(redisSync(client));
      client.disconnect();
      await until(() => client.status === "end", "the client is closed");
      await expect(present(store)).rejects.toMatchObject(unavailable);
      await expect(redisSync(client)).rejects.toMatchObject(unavailable);
    });
  });

  test.each(
    ["closed", "left open", "never used", "away", "lent"].flatMap((how) => [
      [how, "ioredis"],
      [how, "redis"],
    ]),
  )("a process that opened a store exits by itself: %s, through %s", async (how, client) => {
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
      client,
    ];
    const { stdout } = await promisify(execFile)(process.execPath, args);
    expect(stdout).toBe("done\n");
  });
});
