import { busSuite } from "@hivepace/bus/testing";
import { clientVersions, Opened } from "@hivepace/redis-client/testing";
import { claimPort, type OwnServer, startOwnServer } from "@hivepace/servers";
import { describeOwnServer, killAndStart } from "@hivepace/servers/vitest";
import { bytes, listen, startSentinel, until } from "@hivepace/test-kit";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { redisPubSubBus } from "../src/index.ts";

// The Sentinel is started from the server's process information in /proc, which only Linux provides.
describe.skipIf(process.platform !== "linux")("through a real Sentinel", () =>
  describeOwnServer("redis", (server) => {
    const lent = new Opened();
    let replica: OwnServer;
    let sentinel: Awaited<ReturnType<typeof startSentinel>>;
    beforeAll(async () => {
      // A Sentinel discovers replicas at its start and then only after a delay, so the replica must exist first.
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

    describe.each(["ioredis", "redis"] as const)("with options, through %s", (client) =>
      busSuite({ test, open: () => redisPubSubBus({ ...where(), client }), restart }),
    );

    describe.each(clientVersions)("with a client of $version", (version) =>
      busSuite({ test, open: () => redisPubSubBus(lent.lend(version.sentinel([sentinel], "hive"))), restart }),
    );

    test.each(["ioredis", "redis"] as const)("a master unknown to the Sentinels is an error (%s)", async (client) => {
      const unknown = { ...where(), client, name: "nobody", connectTimeoutMs: 300 };
      await expect(redisPubSubBus(unknown)).rejects.toMatchObject({ code: "BUS_UNAVAILABLE" });
    });

    test.each(["ioredis", "redis"] as const)("a bus follows a failover to the new master (%s)", async (client) => {
      const bus = lent.add(await redisPubSubBus({ ...where(), client }), (opened) => opened.close());
      const heard = await listen(bus, `failover-${client}`);
      const redis = lent.client(new Redis(sentinel.port, sentinel.host));
      const tell = async (...command: [string, ...string[]]) =>
        String(await redis.call("SENTINEL", ...command, "hive"));
      await until(
        async () => /,connected_slaves|\bip\b/.test(await tell("REPLICAS")),
        "the sentinel knows the replica",
      );
      const isReplica = (await tell("GET-MASTER-ADDR-BY-NAME")).endsWith(`,${replica.port}`);
      const next = isReplica ? server() : replica;
      await until(() => tell("FAILOVER").then(Boolean, () => false), "the failover begins");
      await until(
        async () => (await tell("GET-MASTER-ADDR-BY-NAME")).endsWith(`,${next.port}`),
        "the failover is complete",
      );
      const there = lent.client(new Redis(next.url));
      await until(
        async () => String(await there.pubsub("NUMSUB", `failover-${client}`)) === `failover-${client},1`,
        "the bus is there",
      );
      await until(() => bus.state === "ready", "the bus is ready again");
      await bus.publish(`failover-${client}`, bytes("from the bus"));
      await until(() => heard.length > 0, "the message arrives");
    });
  }),
);
