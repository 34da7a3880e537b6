import { isCluster, isRefusal, type Opener, oneConnection } from "@hivepace/redis-client";
import type { AnyRedisClient, RedisClient, RedisClusterClient } from "@hivepace/redis-client/types";
import { backOffMs } from "./back-off.ts";
import { ended } from "./ended.ts";

/** A connection to one server, either owned or lent. */
export interface Connection {
  readonly client: RedisClient;
  /** Whether the bus opened the connection and must close it. */
  readonly ours: boolean;
}

/** A source of connections. */
export interface Connections {
  /**
   * Returns a connection for publishing, or `undefined` if none is available now. Throws when there will never be one
   * again.
   */
  publisher(): Connection | undefined;
  /** Returns a new connection for subscribing, or `undefined` if no server is available now. */
  subscriber(): Connection | undefined;
  /** Whether the server of this connection still receives all messages. */
  keeps(client: RedisClient): boolean;
  /** Whether both connections lead to the same server. */
  readonly oneServer: boolean;
  /** Starts to discover servers. Failures are reported; a refusal is reported only when every server refuses. */
  start(report: (error: unknown) => void): void;
  /** Closes the resources opened for discovery. */
  close(): Promise<void>;
}

const ONE_SERVER = { oneServer: true, keeps: () => true, start: () => {}, close: async () => {} };

export function lentConnections(client: AnyRedisClient, timeoutMs: number): Connections {
  if (isCluster(client)) return clusterConnections(client, timeoutMs, false);
  return {
    publisher() {
      checkOpen(client);
      return { client, ours: false };
    },
    subscriber: () => own(client.duplicate(oneConnection(timeoutMs))),
    ...ONE_SERVER,
  };
}

export function ownConnections(opener: Opener, timeoutMs: number): Connections {
  if (opener.isCluster)
    return ownCluster(
      opener.cluster((failures) => backOffMs(failures)),
      timeoutMs,
    );
  const open = () => own(opener.server());
  return { publisher: open, subscriber: open, ...ONE_SERVER };
}

function ownCluster(cluster: RedisClusterClient, timeoutMs: number): Connections {
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
 * Connections to a Cluster, in which every node forwards messages published at any node. The bus publishes at one node
 * as long as possible: the Cluster client itself picks a random node each time, which would reorder messages.
 */
function clusterConnections(cluster: RedisClusterClient, timeoutMs: number, owned: boolean): Connections {
  const pick = (role: "all" | "master"): RedisClient | undefined => {
    checkOpen(cluster);
    const nodes = cluster.status === "ready" ? cluster.nodes(role) : [];
    return nodes[Math.floor(Math.random() * nodes.length)];
  };
  let report = (_error: unknown): void => {};
  let refusal: unknown;
  // A refusal by a single node is not reported. All nodes have refused only when the client gives up its attempt.
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
      if (!client) return undefined;
      // A lost link disconnects its client, which must not happen to a node that reconnects by itself; so the link gets
      // a duplicate.
      return cluster.nodesReconnect ? own(client.duplicate(oneConnection(timeoutMs))) : { client, ours: owned };
    },
    subscriber() {
      const node = pick("all");
      return node && own(node.duplicate(oneConnection(timeoutMs)));
    },
    oneServer: false,
    start(to) {
      report = to;
      cluster.on("node error", onNodeError);
      cluster.on("ready", onReady);
      cluster.on("close", onClose);
      if (cluster.status === "wait") cluster.connect().catch(() => {});
    },
    keeps: (client) => cluster.nodes().some((node) => address(node) === address(client)),
    async close() {
      cluster.off("node error", onNodeError);
      cluster.off("ready", onReady);
      cluster.off("close", onClose);
    },
  };
}

const address = ({ options }: RedisClient): string => `${options.host}:${options.port}`;

function own(client: RedisClient): Connection {
  // Without a listener ioredis writes errors to the console.
  client.on("error", () => {});
  return { client, ours: true };
}

function checkOpen({ status }: { readonly status: string }): void {
  if (status === "end") throw new Error("the lent client is closed");
}
