import type { MessageBus } from "@hivepace/bus";
import { clientVersions, ioredisVersions, Opened } from "@hivepace/redis-client/testing";
import { describeOwnServer } from "@hivepace/servers/vitest";
import { bytes, listen, until, warnings } from "@hivepace/test-kit";
import { Redis } from "ioredis";
import { afterEach, describe, expect, test } from "vitest";
import { redisPubSubBus } from "../src/index.ts";
import { endsByItself } from "./helpers.ts";

const opened = new Opened();
afterEach(opened.close);

const libraries = ["ioredis", "redis"] as const;
const unavailable = { code: "BUS_UNAVAILABLE" };
/** Short enough to observe the timeouts, long enough for a busy machine. */
const impatient = { connectTimeoutMs: 2_000, pingIntervalMs: 100, publishTimeoutMs: 2_000 };

describeOwnServer("redis", (server) => {
  const open = (options = {}) => opened.open(redisPubSubBus({ url: server().url, ...options }));
  const admin = () => opened.client(new Redis(server().url));

  test("subscribe resolves only after the confirmation of Redis", async () => {
    const [bus, redis] = [await open(), admin()];
    for (let i = 0; i < 20; i++) {
      await bus.subscribe(`confirmed ${i}`, () => {});
      expect(await redis.pubsub("NUMSUB", `confirmed ${i}`)).toEqual([`confirmed ${i}`, 1]);
    }
  });

  test.each(libraries)(
    "a bus that is ready again has all its subscriptions, so no later message is missed (%s)",
    async (client) => {
      const [bus, redis] = [await open({ client }), admin()];
      const subjects = Array.from({ length: 300 }, (_, i) => `again ${i}`);
      const heard = new Set<string>();
      await Promise.all(subjects.map((subject) => bus.subscribe(subject, () => heard.add(subject))));
      for (let round = 0; round < 3; round++) {
        heard.clear();
        const ready = nextReady(bus);
        await redis.call("CLIENT", "KILL", "TYPE", "pubsub");
        await ready;
        await Promise.all(subjects.map((subject) => redis.publish(subject, "now")));
        await until(() => heard.size === subjects.length, "every subject hears");
      }
    },
  );

  test("a payload is delivered as a plain Uint8Array", async () => {
    const bus = await open();
    let heard: Uint8Array | undefined;
    await bus.subscribe("plain", (payload) => {
      heard = payload;
    });
    await bus.publish("plain", Uint8Array.of(0, 255, 128, 10, 13));
    await until(() => heard !== undefined, "the message arrives");
    expect(heard?.constructor).toBe(Uint8Array);
    expect(heard).toEqual(Uint8Array.of(0, 255, 128, 10, 13));
  });

  test.each(libraries)(
    "a subscriber that Redis drops for slow reading is interrupted with a warning, then ready again (%s)",
    async (client) => {
      const [bus, redis] = [await open({ client }), admin()];
      const heard = await listen(bus, "flood");
      await redis.config("SET", "client-output-buffer-limit", "pubsub 100kb 0 0");
      const states: string[] = [];
      bus.onState((state) => states.push(state));
      const codes = await warnings(async () => {
        await bus.publish("flood", new Uint8Array(500_000));
        await until(() => states.includes("ready"), "the bus is back");
      }, "HIVEPACE_BUS_DROPPED");
      expect(states).toEqual(["interrupted", "ready"]);
      expect(codes).toEqual(["HIVEPACE_BUS_DROPPED"]);
      await redis.config("SET", "client-output-buffer-limit", "pubsub 32mb 8mb 60");
      await bus.publish("flood", bytes("small"));
      await until(() => heard.includes("small"), "messages arrive again");
    },
  );

  test.each(libraries)(
    "while the server does not answer, publish rejects and the bus is interrupted; then the bus is ready (%s)",
    async (client) => {
      const bus = await open({ ...impatient, client });
      const heard = await listen(bus, "paused");
      await server().pause();
      try {
        await expect(bus.publish("paused", bytes("lost?"))).rejects.toMatchObject(unavailable);
        await until(() => bus.state === "interrupted", "the silence is noticed");
        await expect(bus.publish("paused", bytes("lost!"))).rejects.toMatchObject(unavailable);
      } finally {
        await server().resume();
      }
      await until(() => bus.state === "ready", "the bus is back");
      await bus.publish("paused", bytes("back"));
      await until(() => heard.includes("back"), "messages arrive again");
      expect(heard).not.toContain("lost!");
    },
  );

  test.each(libraries)(
    "while the server does not answer, opening rejects or waits, and closing ends (%s)",
    async (client) => {
      const bus = await open({ ...impatient, client });
      await server().pause();
      try {
        await expect(open({ ...impatient, client })).rejects.toMatchObject(unavailable);
        const waiting = await open({ ...impatient, client, waitForBroker: true });
        expect(waiting.state).toBe("connecting");
        await Promise.all([bus.close(), waiting.close()]);
      } finally {
        await server().resume();
      }
    },
  );

  test("a message rejected during an outage is not sent afterwards", async () => {
    const clients = ioredisVersions.map(({ Redis }) => opened.client(new Redis(server().url, {})));
    const buses = [await open(), ...(await Promise.all(clients.map((client) => opened.open(redisPubSubBus(client)))))];
    const heard = await listen(await open(), "queued");
    await server().kill();
    await until(() => buses.every(({ state }) => state === "interrupted"), "the outage is noticed");
    for (const bus of buses)
      for (let i = 0; i < 5; i++) await expect(bus.publish("queued", bytes("late"))).rejects.toMatchObject(unavailable);
    await server().start();
    await until(() => buses.every(({ state }) => state === "ready"), "all are back");
    await until(async () => {
      await Promise.all(buses.map((bus) => bus.publish("queued", bytes("now"))));
      return heard.length >= buses.length;
    }, "the message arrives");
    expect(heard).not.toContain("late");
  });

  test("without Redis, opening rejects with the cause, or waits until Redis starts", async () => {
    await server().kill();
    await expect(open({ connectTimeoutMs: 1_000 })).rejects.toMatchObject({
      ...unavailable,
      cause: expect.objectContaining({ code: "ECONNREFUSED" }),
    });
    const bus = await open({ waitForBroker: true });
    expect(bus.state).toBe("connecting");
    await expect(bus.publish("early", bytes("x"))).rejects.toMatchObject(unavailable);
    const subscribed = listen(bus, "early");
    await server().start();
    const heard = await subscribed;
    await until(() => bus.state === "ready", "the bus is ready");
    await bus.publish("early", bytes("there"));
    await until(() => heard.length === 1, "the message arrives");
  });

  test("with waitForBroker and a running Redis the bus is ready at once", async () => {
    expect((await open({ waitForBroker: true })).state).toBe("ready");
  });

  test.each(
    ["options", "lent", "away", "refused", "left open", "away, left open"].flatMap((how) => [
      [how, "ioredis"],
      [how, "redis"],
    ]),
  )(
    "a process that opened a bus, and closed it unless left open, exits by itself: %s, through %s",
    (how = "", client = "") => endsByItself(how, server().host, server().port, client),
  );

  test.each(clientVersions)(
    "a client of $version stays open after close, with its original listeners only",
    async (version) => {
      const lent = version.server(server());
      const client = opened.lend(lent);
      await lent.ping();
      const before = lent.listeners();
      const bus = await redisPubSubBus(client, impatient);
      await bus.subscribe("lent", () => {});
      await server().restart();
      await until(() => bus.state === "interrupted", "the outage is noticed");
      await until(() => bus.state === "ready", "the bus is back");
      await bus.close();
      expect(lent.listeners()).toEqual(before);
      expect(await lent.ping()).toBe("PONG");
    },
  );

  test.each(clientVersions)("closing a lent client of $version closes the bus", async (version) => {
    const lent = version.server(server());
    const client = opened.lend(lent);
    const bus = await opened.open(redisPubSubBus(client));
    lent.close();
    await until(() => bus.state === "closed", "the bus is closed");
    await expect(redisPubSubBus(client)).rejects.toMatchObject(unavailable);
  });

  test.each(clientVersions)(
    "with a client of $version, publish rejects while Redis does not answer, and the bus recovers",
    async (version) => {
      const bus = await opened.open(redisPubSubBus(opened.lend(version.server(server())), impatient));
      await server().pause();
      try {
        await expect(bus.publish("paused", bytes("x"))).rejects.toMatchObject(unavailable);
        await until(() => bus.state === "interrupted", "the silence is noticed");
      } finally {
        await server().resume();
      }
      await until(() => bus.state === "ready", "the bus is back");
      await bus.publish("paused", bytes("x"));
    },
  );

  describe.each(ioredisVersions)("a client of $version that is lent", ({ Redis }) => {
    const lend = (options = {}) => opened.client(new Redis(server().url, options));
    const count = (client: InstanceType<typeof Redis>) =>
      client.eventNames().map((name) => [name, client.listenerCount(name)]);

    test("stays open after close, without listeners of the bus", async () => {
      const client = lend();
      await client.ping();
      const before = count(client);
      const bus = await redisPubSubBus(client, impatient);
      await bus.subscribe("lent", () => {});
      await server().restart();
      await until(() => bus.state === "ready", "the bus is back");
      await bus.close();
      expect(count(client)).toEqual(before);
      expect(await client.ping()).toBe("PONG");
    });

    test("closes the bus when its owner closes the client", async () => {
      const client = lend();
      const bus = await opened.open(redisPubSubBus(client));
      client.disconnect();
      await until(() => bus.state === "closed", "the bus is closed");
      await expect(redisPubSubBus(client)).rejects.toMatchObject(unavailable);
    });

    test("is connected if necessary, and its key prefix has no effect", async () => {
      const bus = await opened.open(redisPubSubBus(lend({ lazyConnect: true, keyPrefix: "prefix:", db: 3 })));
      const heard = await listen(bus, "exact");
      await admin().publish("exact", "from outside");
      await bus.publish("exact", bytes("from inside"));
      await until(() => heard.length === 2, "both arrive");
    });

    test("may pipeline automatically, and the caller may still reuse the buffer at once", async () => {
      const bus = await opened.open(redisPubSubBus(lend({ enableAutoPipelining: true })));
      const heard = await listen(bus, "pipelined");
      const buffer = bytes("as it was");
      const published = bus.publish("pipelined", buffer);
      buffer.fill(0);
      await published;
      await until(() => heard.length === 1, "the message arrives");
      expect(heard).toEqual(["as it was"]);
    });

    test("may be unresponsive: publish rejects, and the bus is ready when Redis answers again", async () => {
      const bus = await opened.open(redisPubSubBus(lend(), impatient));
      await server().pause();
      try {
        await expect(bus.publish("paused", bytes("x"))).rejects.toMatchObject(unavailable);
        await until(() => bus.state === "interrupted", "the silence is noticed");
      } finally {
        await server().resume();
      }
      await until(() => bus.state === "ready", "the bus is back");
      await bus.publish("paused", bytes("x"));
    });
  });
});

function nextReady(bus: MessageBus): Promise<void> {
  return new Promise((resolve) => {
    const off = bus.onState((state) => {
      if (state !== "ready") return;
      off();
      resolve();
    });
  });
}
