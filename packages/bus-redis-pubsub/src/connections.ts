import { backOffMs } from "./back-off.ts";
import {
  type ClusterNode,
  ended,
  type Ioredis,
  isCluster,
  isRefusal,
  loadIoredis,
  type RedisClient,
  type RedisClusterClient,
} from "./client.ts";
import { clientOptions, type RedisClusterOptions, type RedisPubSubOptions } from "./options.ts";

/** A connection to one server: ours to close, or lent. */
export interface Connection {
  readonly client: RedisClient;
  readonly ours: boolean;
}

/** Where connections come from. */
export interface Connections {
  /** One to publish on, if there is one now. Throws when there will never be one again. */
  publisher(): Connection | undefined;
  /** A new one, if there is a server for it now. */
  subscriber(): Connection | undefined;
  /** Whether the server of this connection is still one to hear everything from. */
  keeps(client: RedisClient): boolean;
  /** Whether both connections lead to the same server. */
  readonly oneServer: boolean;
  /** Begins to look for servers. Failures are reported; a refusal only when no server lets us in. */
  start(report: (error: unknown) => void): void;
  /** Ends what was opened to find servers. */
  close(): Promise<void>;
}

/**
 * A connection of ours is never opened twice: when it ends, another takes its place. So ioredis has nothing to queue, to
 * send again or to subscribe again, and each new connection looks anew for the master or for a node.
 */
const ours = (timeoutMs: number) => ({
  lazyConnect: true,
  enableOfflineQueue: false,
  retryStrategy: null,
  sentinelRetryStrategy: null,
  commandTimeout: undefined,
  connectTimeout: timeoutMs,
  sentinelCommandTimeout: timeoutMs,
  disconnectTimeout: 500,
});

/** How often an owned Cluster client asks which nodes there are: nothing that we send would make it notice. */
const SLOTS_REFRESH_MS = 10_000;

const ONE_SERVER = { oneServer: true, keeps: () => true, start: () => {}, close: async () => {} };

export function lentConnections(client: RedisClient | RedisClusterClient, timeoutMs: number): Connections {
  if (isCluster(client)) return clusterConnections(client, timeoutMs, false);
  return {
    publisher() {
      checkOpen(client);
      return { client, ours: false };
    },
    subscriber: () => own(client.duplicate(ours(timeoutMs))),
    ...ONE_SERVER,
  };
}

export async function ownConnections(options: RedisPubSubOptions, timeoutMs: number): Promise<Connections> {
  const { url, cluster, redisOptions } = clientOptions(options);
  const ioredis = await loadIoredis();
  if (cluster) return ownCluster(ioredis, cluster, redisOptions, timeoutMs);
  const settings = { ...redisOptions, ...ours(timeoutMs) };
  const open = () => own(url === undefined ? new ioredis.Redis(settings) : new ioredis.Redis(url, settings));
  return { publisher: open, subscriber: open, ...ONE_SERVER };
}

function ownCluster(
  { Cluster }: Ioredis,
  { nodes, ...options }: RedisClusterOptions,
  redisOptions: object,
  timeoutMs: number,
): Connections {
  const cluster = new Cluster(nodes, {
    slotsRefreshInterval: SLOTS_REFRESH_MS,
    ...options,
    lazyConnect: true,
    clusterRetryStrategy: (failures: number) => backOffMs(failures),
    redisOptions: {
      ...redisOptions,
      ...(options["redisOptions"] as object),
      connectTimeout: timeoutMs,
      disconnectTimeout: 500,
    },
  });
  cluster.on("error", () => {});
  const found = clusterConnections(cluster, timeoutMs, true);
  return {
    ...found,
    async close() {
      await found.close();
      const open = cluster.nodes();
      cluster.disconnect();
      await Promise.all(open.map(ended));
    },
  };
}

/**
 * In a Cluster every node passes on what is published at any of them. A bus publishes at one node for as long as it can:
 * the Cluster client itself takes a random node each time, and messages would overtake each other on the way.
 */
function clusterConnections(cluster: RedisClusterClient, timeoutMs: number, owned: boolean): Connections {
  const pick = (role: "all" | "master"): ClusterNode | undefined => {
    checkOpen(cluster);
    const nodes = cluster.status === "ready" ? cluster.nodes(role) : [];
    return nodes[Math.floor(Math.random() * nodes.length)];
  };
  let report = (_error: unknown): void => {};
  let refusal: unknown;
  // One node that refuses us is an accident; that all do shows when the client gives up an attempt.
  const onNodeError = (error: unknown): void => {
    if (isRefusal(error)) refusal = error;
    else report(error);
  };
  const onReady = (): void => {
    refusal = undefined;
  };
  const onClose = (): void => {
    if (refusal !== undefined) report(refusal);
  };
  return {
    publisher() {
      const client = pick("master");
      return client && { client, ours: owned };
    },
    subscriber() {
      const node = pick("all");
      return node && own(node.duplicate(ours(timeoutMs)));
    },
    oneServer: false,
    start(to) {
      report = to;
      cluster.on("node error", onNodeError);
      cluster.on("ready", onReady);
      cluster.on("close", onClose);
      if (cluster.status === "wait") cluster.connect().catch(() => {});
    },
    keeps: (client) => cluster.nodes().some((node) => address(node) === address(client as ClusterNode)),
    async close() {
      cluster.off("node error", onNodeError);
      cluster.off("ready", onReady);
      cluster.off("close", onClose);
    },
  };
}

const address = ({ options }: ClusterNode): string => `${options.host}:${options.port}`;

function own(client: RedisClient): Connection {
  // Without a listener ioredis writes to the console.
  client.on("error", () => {});
  return { client, ours: true };
}

function checkOpen({ status }: { readonly status: string }): void {
  if (status === "end") throw new Error("the client that it was lent is closed");
}
