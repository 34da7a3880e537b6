import { clientVersions, Opened } from "@hivepace/redis-client/testing";
import { describeOwnServer } from "@hivepace/servers/vitest";
import { bytes, listen, until, warnings } from "@hivepace/test-kit";
import { Redis } from "ioredis";
import { afterEach, describe, expect, test, vi } from "vitest";
import { redisPubSubBus } from "../src/index.ts";

const opened = new Opened();
afterEach(opened.close);

const refused = { code: "BUS_UNAVAILABLE", message: expect.stringContaining("refused the credentials") };

describeOwnServer(
  "redis",
  (server) => {
    const admin = () => opened.client(new Redis(server().url, { password: "secret" }));
    const at = () => ({ host: server().host, port: server().port });

    test("the right password is accepted", async () => {
      const bus = await opened.open(redisPubSubBus({ ...at(), password: "secret" }));
      expect(bus.state).toBe("ready");
    });

    describe.each([
      ["a wrong password", { password: "wrong" }],
      ["no password", {}],
      ["an unknown user", { username: "nobody", password: "secret" }],
    ])("%s", (_, credentials) => {
      test.each([
        ["ioredis", false],
        ["ioredis", true],
        ["redis", false],
        ["redis", true],
      ] as const)(
        "is refused at once without a retry, through %s (waitForBroker: %s)",
        async (client, waitForBroker) => {
          const redis = admin();
          const before = await connectionsOf(redis);
          const settings = { client, waitForBroker, connectTimeoutMs: 60_000 };
          await expect(redisPubSubBus({ ...at(), ...credentials, ...settings })).rejects.toMatchObject(refused);
          expect((await connectionsOf(redis)) - before).toBeLessThanOrEqual(2);
        },
      );

      test.each(clientVersions)("is refused with a client of $version", async (version) => {
        const client = opened.lend(version.server(at(), credentials));
        await expect(redisPubSubBus(client, { connectTimeoutMs: 60_000 })).rejects.toMatchObject(refused);
      });
    });

    test.each(["ioredis", "redis"] as const)(
      "the rights named in the README suffice, and other channels are refused (%s)",
      async (client) => {
        const redis = admin();
        const rights = ["resetchannels", "&ratelimit.*", "+publish", "+subscribe", "+unsubscribe", "+ping", "+info"];
        await redis.call("ACL", "SETUSER", "agent", "reset", "on", ">pass", ...rights);
        const quiet = vi.spyOn(console, "warn");
        const bus = await opened.open(redisPubSubBus({ ...at(), client, username: "agent", password: "pass" }));
        const heard = await listen(bus, "ratelimit.capacity");
        await expect(bus.subscribe("other", () => {})).rejects.toMatchObject({ code: "BUS_UNAVAILABLE" });
        await expect(bus.publish("other", bytes("x"))).rejects.toMatchObject({ code: "BUS_UNAVAILABLE" });
        await bus.publish("ratelimit.capacity", bytes("x"));
        await until(() => heard.length === 1, "the message arrives");
        expect(bus.state).toBe("ready");
        expect(quiet).not.toHaveBeenCalled();
        quiet.mockRestore();
      },
    );

    test.each(["ioredis", "redis"] as const)(
      "revoked credentials close the bus with a warning (%s)",
      async (client) => {
        const redis = admin();
        await redis.call("ACL", "SETUSER", "leaver", "reset", "on", ">pass", "allchannels", "+@all");
        const bus = await opened.open(redisPubSubBus({ ...at(), client, username: "leaver", password: "pass" }));
        await warnings(async () => {
          await redis.call("ACL", "DELUSER", "leaver");
          await until(() => bus.state === "closed", "the bus is closed");
        }, "HIVEPACE_BUS_REFUSED");
      },
    );

    test.each(["ioredis", "redis"] as const)(
      "a revoked channel causes a warning, and the other channels continue (%s)",
      async (client) => {
        const redis = admin();
        const user = ["ACL", "SETUSER", "narrow"] as const;
        await redis.call(...user, "reset", "on", ">pass", "resetchannels", "&a", "&b", "+@all");
        const bus = await opened.open(redisPubSubBus({ ...at(), client, username: "narrow", password: "pass" }));
        const [, b] = [await listen(bus, "a"), await listen(bus, "b")];
        await warnings(async () => {
          // Redis closes connections that listen to a channel which their user may no longer use.
          await redis.call(...user, "resetchannels", "&b");
          await until(() => bus.state === "interrupted", "the bus is interrupted");
          await until(() => bus.state === "ready", "the bus is back");
        }, "HIVEPACE_BUS_REFUSED");
        await bus.publish("b", bytes("still"));
        await until(() => b.includes("still"), "the other hears");
      },
    );
  },
  { args: ["--requirepass", "secret"] },
);

async function connectionsOf(redis: Redis): Promise<number> {
  const stats = await redis.info("stats");
  return Number(/total_connections_received:(\d+)/.exec(stats)?.[1]);
}
