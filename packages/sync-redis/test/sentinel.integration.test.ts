import { syncStoreSuite } from "@hivepace/core/testing";
import { clientVersions, Opened } from "@hivepace/redis-client/testing";
import { claimPort, type OwnServer, startOwnServer } from "@hivepace/servers";
import { describeOwnServer, killAndStart } from "@hivepace/servers/vitest";
import { startSentinel, until } from "@hivepace/test-kit";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { redisSync } from "../src/index.ts";
import { present } from "./helpers.ts";

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
      syncStoreSuite({ test, open: () => redisSync({ ...where(), client }), restart }),
    );

    describe.each(clientVersions)("with a client of $version", (version) =>
      syncStoreSuite({ test, open: () => redisSync(lent.lend(version.sentinel([sentinel], "hive"))), restart }),
    );

    test.each(["ioredis", "redis"] as const)(
      "a store follows a failover to a master without the script, and counts once (%s)",
      async (client) => {
        const store = await lent.open(redisSync({ ...where(), client }));
        const namespace = `failover-${client}`;
        const report = await present(store, { namespace });
        const counts = [{ of: { kind: "endpoint", id: "eu" }, requests: 3, tokens: 30 }];
        await store.sync({ ...report, sequence: 2, counts });
        const redis = lent.client(new Redis(sentinel.port, sentinel.host));
        const tell = async (...command: [string, ...string[]]) =>
          String(await redis.call("SENTINEL", ...command, "hive"));
        await until(async () => /\bip\b/.test(await tell("REPLICAS")), "the sentinel knows the replica");
        const isReplica = (await tell("GET-MASTER-ADDR-BY-NAME")).endsWith(`,${replica.port}`);
        const next = isReplica ? server() : replica;
        await until(() => tell("FAILOVER").then(Boolean, () => false), "the failover begins");
        await until(
          async () => (await tell("GET-MASTER-ADDR-BY-NAME")).endsWith(`,${next.port}`),
          "the failover is complete",
        );
        const there = lent.client(new Redis(next.url));
        let sequence = 3;
        await until(async () => {
          const reply = await store.sync({ ...report, sequence: sequence++, counts }).catch(() => undefined);
          return reply?.sums[0]?.requests === 3 && (await there.exists(`${namespace}:ratelimit:eu:default`)) === 1;
        }, "the store syncs with the new master");
        expect(await there.hget(`${namespace}:ratelimit:eu:default`, "total")).toBe("3 30 1");
      },
    );
  }),
);
