import { describeOwnServer } from "@hivepace/servers/vitest";
import { bytes, listen, until, warnings } from "@hivepace/test-kit";
import { Redis } from "ioredis";
import { afterEach, describe, expect, test, vi } from "vitest";
import { redisPubSubBus } from "../src/index.ts";
import { Opened, versions } from "./helpers.ts";

const opened = new Opened();
afterEach(opened.close);

const refused = { code: "BUS_UNAVAILABLE", message: expect.stringContaining("refused the credentials") };

describeOwnServer(
  "redis",
  (server) => {
    const admin = () => opened.client(new Redis(server().url, { password: "secret" }));
    const at = () => ({ host: server().host, port: server().port });

    test("the right password opens the door", async () => {
      const bus = await opened.bus(redisPubSubBus({ ...at(), password: "secret" }));
      expect(bus.state).toBe("ready");
    });

    describe.each([
      ["a wrong password", { password: "wrong" }],
      ["no password", {}],
      ["an unknown user", { username: "nobody", password: "secret" }],
    ])("%s", (_, credentials) => {
      test.each([false, true])("is refused at once and not tried again (waitForBroker: %s)", async (waitForBroker) => {
        const redis = admin();
        const before = await connectionsOf(redis);
        const settings = { waitForBroker, connectTimeoutMs: 60_000 };
        await expect(redisPubSubBus({ ...at(), ...credentials, ...settings })).rejects.toMatchObject(refused);
        expect((await connectionsOf(redis)) - before).toBeLessThanOrEqual(2);
      });

      test.each(versions)("is refused to a client of $version", async ({ Redis }) => {
        const client = opened.client(new Redis(server().url, { ...credentials, retryStrategy: () => 1_000 }));
        await expect(redisPubSubBus(client, { connectTimeoutMs: 60_000 })).rejects.toMatchObject(refused);
      });
    });

    test("a user with the rights that the README names may do all, and nothing on other channels", async () => {
      const redis = admin();
      const rights = ["resetchannels", "&ratelimit.*", "+publish", "+subscribe", "+unsubscribe", "+ping", "+info"];
      await redis.call("ACL", "SETUSER", "agent", "reset", "on", ">pass", ...rights);
      const quiet = vi.spyOn(console, "warn");
      const bus = await opened.bus(redisPubSubBus({ ...at(), username: "agent", password: "pass" }));
      const heard = await listen(bus, "ratelimit.capacity");
      await expect(bus.subscribe("other", () => {})).rejects.toMatchObject({ code: "BUS_UNAVAILABLE" });
      await expect(bus.publish("other", bytes("x"))).rejects.toMatchObject({ code: "BUS_UNAVAILABLE" });
      await bus.publish("ratelimit.capacity", bytes("x"));
      await until(() => heard.length === 1, "it hears");
      expect(bus.state).toBe("ready");
      expect(quiet).not.toHaveBeenCalled();
      quiet.mockRestore();
    });

    test("credentials that are withdrawn close the bus, with a warning", async () => {
      const redis = admin();
      await redis.call("ACL", "SETUSER", "leaver", "reset", "on", ">pass", "allchannels", "+@all");
      const bus = await opened.bus(redisPubSubBus({ ...at(), username: "leaver", password: "pass" }));
      await warnings(async () => {
        await redis.call("ACL", "DELUSER", "leaver");
        await until(() => bus.state === "closed", "the bus is closed");
      }, "HIVEPACE_BUS_REFUSED");
    });

    test("a channel that is withdrawn is warned of, and the others live on", async () => {
      const redis = admin();
      const user = ["ACL", "SETUSER", "narrow"] as const;
      await redis.call(...user, "reset", "on", ">pass", "resetchannels", "&a", "&b", "+@all");
      const bus = await opened.bus(redisPubSubBus({ ...at(), username: "narrow", password: "pass" }));
      const [, b] = [await listen(bus, "a"), await listen(bus, "b")];
      await warnings(async () => {
        // Redis ends the connections that listen to a channel which their user may no longer hear.
        await redis.call(...user, "resetchannels", "&b");
        await until(() => bus.state === "interrupted", "it is interrupted");
        await until(() => bus.state === "ready", "it is back");
      }, "HIVEPACE_BUS_REFUSED");
      await bus.publish("b", bytes("still"));
      await until(() => b.includes("still"), "the other hears");
    });
  },
  { args: ["--requirepass", "secret"] },
);

async function connectionsOf(redis: Redis): Promise<number> {
  const stats = await redis.info("stats");
  return Number(/total_connections_received:(\d+)/.exec(stats)?.[1]);
}
