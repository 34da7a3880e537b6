import { syncStoreSuite } from "@hivepace/core/testing";
import { clientVersions, Opened } from "@hivepace/redis-client/testing";
import type { OwnServer } from "@hivepace/servers";
import { whyNot } from "@hivepace/servers/vitest";
import { until } from "@hivepace/test-kit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { redisSync } from "../src/index.ts";
import { ask, calls, present, startCluster } from "./helpers.ts";

// Skipped only where the tests cannot start a Redis server: the tests create and kill a Cluster. The run prints the
// reason.
describe.skipIf(whyNot("redis", { own: true }) !== undefined)("with a Redis Cluster of three nodes", () => {
  let servers: OwnServer[] = [];
  const opened = new Opened();
  beforeAll(async () => {
    servers = await startCluster(3);
  });
  afterAll(async () => {
    await opened.close();
    await Promise.all(servers.map((server) => server.stop()));
  });
  const nodes = () => servers.map(({ host, port }) => ({ host, port }));
  const restart = async (whileAway?: () => Promise<void>) => {
    await Promise.all(servers.map((server) => server.kill()));
    await whileAway?.();
    await Promise.all(servers.map((server) => server.start()));
    const isUp = async (server: OwnServer) => /cluster_state:ok/.test(await ask(server, "CLUSTER", "INFO"));
    await until(async () => (await Promise.all(servers.map(isUp))).every(Boolean), "the cluster is up again");
  };

  describe.each(["ioredis", "redis"] as const)("with options, through %s", (client) =>
    syncStoreSuite({ test, open: () => redisSync({ cluster: { nodes: nodes() }, client }), restart }),
  );

  describe.each(clientVersions)("with a client of $version", (version) =>
    syncStoreSuite({ test, open: () => redisSync(opened.lend(version.cluster(nodes()))), restart }),
  );

  const things = Array.from({ length: 1_000 }, (_, i) => ({ kind: "endpoint", id: `e${i}` }));

  test.each(["ioredis", "redis"] as const)(
    "a sync is one pipeline for each node, with one call for each slot (%s)",
    async (client) => {
      const store = await opened.open(redisSync({ cluster: { nodes: nodes() }, client }));
      const report = await present(store, { namespace: `pipelines-${client}` });
      const counts = things.map((of) => ({ of, requests: 1, tokens: 2 }));
      await store.sync({ ...report, sequence: 2, counts });
      const reads = async () =>
        (await Promise.all(servers.map((server) => ask(server, "INFO", "stats")))).map((stats) =>
          Number(/total_reads_processed:(\d+)/.exec(stats)?.[1]),
        );
      const [before, commands] = [await reads(), await Promise.all(servers.map(calls))];
      const { sums } = await store.sync({ ...report, sequence: 3, counts });
      const after = await reads();
      expect(sums.every(({ requests, error }) => requests === 1 && error === undefined)).toBe(true);
      // There is one call for each slot.
      const made = (await Promise.all(servers.map(calls))).map(
        (now, i) => (now["evalsha"] ?? 0) - (commands[i]?.["evalsha"] ?? 0),
      );
      const total = made.reduce((sum, count) => sum + count, 0);
      expect(total).toBeGreaterThan(900);
      expect(total).toBeLessThanOrEqual(1_000);
      // A node reads single calls one by one, and a pipeline in pieces whose size depends on the load.
      for (const [i, count] of after.entries()) expect(count - (before[i] ?? 0)).toBeLessThan((made[i] ?? 0) / 2);
    },
  );

  test.each(["ioredis", "redis"] as const)(
    "while one node is away, keys on other nodes are synced, and its own keys report an error (%s)",
    async (client) => {
      const store = await opened.open(redisSync({ cluster: { nodes: nodes() }, syncTimeoutMs: 10_000, client }));
      const report = await present(store, { namespace: `partly-${client}` });
      for (const server of servers) await ask(server, "CONFIG", "SET", "cluster-require-full-coverage", "no");
      const counts = things.slice(0, 100).map((of) => ({ of, requests: 1, tokens: 2 }));
      await store.sync({ ...report, sequence: 2, counts });
      const [first] = servers as [OwnServer];
      await first.kill();
      try {
        let sequence = 3;
        await until(async () => {
          const reply = await store.sync({ ...report, sequence: sequence++, counts }).catch(() => undefined);
          const failed = reply?.sums.filter(({ error }) => error !== undefined).length ?? 0;
          return failed > 10 && failed < 60;
        }, "some keys are synced and others are not");
      } finally {
        await first.start();
      }
      await until(async () => {
        const reply = await store.sync({ ...report, sequence: Date.now(), counts }).catch(() => undefined);
        return reply?.sums.every(({ requests, error }) => requests === 1 && error === undefined) ?? false;
      }, "all keys are synced again");
    },
  );
});
