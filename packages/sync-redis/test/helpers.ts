import type { SyncReport, SyncStore } from "@hivepace/core";
import { claimPort, type OwnServer, startOwnServer } from "@hivepace/servers";
import { until } from "@hivepace/test-kit";
import { Redis } from "ioredis";

/** Returns a report for the store's current window, with the given changes. */
export async function present(store: SyncStore, change: Partial<SyncReport> = {}): Promise<SyncReport> {
  const blank: SyncReport = {
    namespace: "test",
    agentId: "a",
    incarnation: "1",
    sequence: 1,
    windowMs: 1_000_000_000,
    window: undefined,
    counts: [],
    watched: [],
    ...change,
  };
  return { ...blank, window: (await store.sync({ ...blank, counts: [], watched: [] })).window };
}

export async function ask(server: OwnServer, ...command: [string, ...(string | number)[]]): Promise<string> {
  const client = new Redis(server.url);
  try {
    return String(await client.call(...command));
  } finally {
    client.disconnect();
  }
}

/** Returns how often the server has executed each command. */
export async function calls(server: OwnServer): Promise<Record<string, number>> {
  const stats = await ask(server, "INFO", "commandstats");
  return Object.fromEntries(
    [...stats.matchAll(/cmdstat_(\S+):calls=(\d+)/g)].map(([, name, count]) => [name, Number(count)]),
  );
}

/** Starts a Redis Cluster of `count` nodes with equal numbers of slots. */
export async function startCluster(count: number): Promise<OwnServer[]> {
  const ports = await Promise.all(Array.from({ length: count }, claimPort));
  const servers = await Promise.all(
    ports.map((port) =>
      startOwnServer("redis", {
        args: [
          ...["--cluster-enabled", "yes", "--cluster-announce-ip", "127.0.0.1"],
          ...["--cluster-port", `${port}`, "--cluster-node-timeout", "2000"],
        ],
      }),
    ),
  );
  const edge = (i: number) => Math.round((16_384 * i) / count);
  for (const [i, server] of servers.entries()) {
    await ask(server, "CLUSTER", "ADDSLOTSRANGE", edge(i), edge(i + 1) - 1);
    // Each node needs its own epoch before the nodes meet.
    await ask(server, "CLUSTER", "SET-CONFIG-EPOCH", i + 1);
  }
  const [first, ...others] = servers as [OwnServer, ...OwnServer[]];
  for (const [i, { host, port }] of others.entries())
    await ask(first, "CLUSTER", "MEET", host, port, ports[i + 1] ?? 0);
  const isUp = async (server: OwnServer) => {
    const info = await ask(server, "CLUSTER", "INFO");
    return /cluster_state:ok/.test(info) && info.includes(`cluster_known_nodes:${count}`);
  };
  await until(async () => (await Promise.all(servers.map(isUp))).every(Boolean), "the cluster is up");
  return servers;
}
