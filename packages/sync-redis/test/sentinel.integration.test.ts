import { syncStoreSuite } from "@hivepace/core/testing";
import { claimPort, type OwnServer, startOwnServer } from "@hivepace/servers";
import { describeOwnServer, killAndStart } from "@hivepace/servers/vitest";
import { startSentinel, until } from "@hivepace/test-kit";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { redisSync } from "../src/index.ts";
import { Opened, present, versions } from "./helpers.ts";

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

    describe("with options", () => syncStoreSuite({ test, open: () => redisSync(where()), restart }));

    describe.each(versions)("with a client of $version", ({ Sentinel }) =>
      syncStoreSuite({ test, open: () => redisSync(lent.client(new Sentinel(where()))), restart }),
    );

    test("a store follows the master when another takes over, which has neither the script nor a second count", async () => {
      const store = await lent.store(redisSync(where()));
      const report = await present(store, { namespace: "failover" });
      const counts = [{ of: { kind: "endpoint", id: "eu" }, requests: 3, tokens: 30 }];
      await store.sync({ ...report, sequence: 2, counts });
      const redis = lent.client(new Redis(sentinel.port, sentinel.host));
      const tell = async (...command: [string, ...string[]]) =>
        String(await redis.call("SENTINEL", ...command, "hive"));
      await until(async () => /\bip\b/.test(await tell("REPLICAS")), "the sentinel knows the replica");
      await until(() => tell("FAILOVER").then(Boolean, () => false), "the failover begins");
      await until(async () => (await tell("GET-MASTER-ADDR-BY-NAME")).endsWith(`,${replica.port}`), "it is the master");
      const there = lent.client(new Redis(replica.url));
      let sequence = 3;
      await until(async () => {
        const reply = await store.sync({ ...report, sequence: sequence++, counts }).catch(() => undefined);
        return reply?.sums[0]?.requests === 3 && (await there.exists("failover:ratelimit:eu:default")) === 1;
      }, "it syncs with the new master");
      expect(await there.hget("failover:ratelimit:eu:default", "total")).toBe("3 30 1");
    });
  }),
);
