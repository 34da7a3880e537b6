import { busSuite } from "@hivepace/bus/testing";
import { claimPort, type OwnServer, startOwnServer } from "@hivepace/servers";
import { describeOwnServer, killAndStart } from "@hivepace/servers/vitest";
import { bytes, listen, startSentinel, until } from "@hivepace/test-kit";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { redisPubSubBus } from "../src/index.ts";
import { Opened, versions } from "./helpers.ts";

// The Sentinel is started from what the kernel tells of the server's process.
describe.skipIf(process.platform !== "linux")("through a real Sentinel", () =>
  describeOwnServer("redis", (server) => {
    const lent = new Opened();
    let replica: OwnServer;
    let sentinel: Awaited<ReturnType<typeof startSentinel>>;
    beforeAll(async () => {
      // It looks for replicas at once, and then not for a while.
      const master = lent.client(new Redis(server().url));
      replica = await startOwnServer("redis", { args: ["--replicaof", server().host, `${server().port}`] });
      await until(async () => /connected_slaves:1/.test(await master.info("replication")), "the replica is there");
      sentinel = await startSentinel(server(), await claimPort());
    });
    afterAll(async () => {
      await lent.close();
      await sentinel?.stop();
      await replica?.stop();
    });
    const restart = killAndStart(server);
    const where = () => ({ sentinels: [{ host: sentinel.host, port: sentinel.port }], name: "hive" });

    describe("with options", () => busSuite({ test, open: () => redisPubSubBus(where()), restart }));

    describe.each(versions)("with a client of $version", ({ Sentinel }) =>
      busSuite({ test, open: () => redisPubSubBus(lent.client(new Sentinel(where()))), restart }),
    );

    test("a master that the sentinels do not know is an error", async () => {
      const unknown = { ...where(), name: "nobody", connectTimeoutMs: 300 };
      await expect(redisPubSubBus(unknown)).rejects.toMatchObject({ code: "BUS_UNAVAILABLE" });
    });

    test("a bus follows the master when another takes over", async () => {
      const bus = lent.add(await redisPubSubBus(where()), (opened) => opened.close());
      const heard = await listen(bus, "failover");
      const redis = lent.client(new Redis(sentinel.port, sentinel.host));
      const tell = async (...command: [string, ...string[]]) =>
        String(await redis.call("SENTINEL", ...command, "hive"));
      await until(
        async () => /,connected_slaves|\bip\b/.test(await tell("REPLICAS")),
        "the sentinel knows the replica",
      );
      await until(() => tell("FAILOVER").then(Boolean, () => false), "the failover begins");
      await until(async () => (await tell("GET-MASTER-ADDR-BY-NAME")).endsWith(`,${replica.port}`), "it is the master");
      const there = lent.client(new Redis(replica.url));
      await until(async () => String(await there.pubsub("NUMSUB", "failover")) === "failover,1", "the bus is there");
      await until(() => bus.state === "ready", "it is ready again");
      await bus.publish("failover", bytes("from the bus"));
      await until(() => heard.length > 0, "it hears");
    });
  }),
);
