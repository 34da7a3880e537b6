import type {
  NodeRedisClient,
  NodeRedisCluster,
  NodeRedisEmitter,
  NodeRedisListener,
  NodeRedisSentinel,
} from "../../types.ts";

export type {
  NodeRedisClient,
  NodeRedisCluster,
  NodeRedisClusterNode,
  NodeRedisSentinel,
} from "../../types.ts";

/** The part of node-redis 5 that is used, from the package `redis` or `@redis/client`. */
export interface NodeRedisLibrary {
  createClient(options: object): NodeRedisClient;
  createCluster(options: object): NodeRedisCluster;
}

const has = (source: object, ...names: readonly string[]): boolean =>
  names.every((name) => typeof (source as Record<string, unknown>)[name] === "function");

export const isNodeRedisCluster = (source: object): source is NodeRedisCluster =>
  has(source, "sendCommand", "nodeClient", "destroy") && "masters" in source;

export const isNodeRedisSentinel = (source: object): source is NodeRedisSentinel =>
  has(source, "sendCommand", "getMasterNode", "getSentinelNode");

export const isNodeRedisClient = (source: object): source is NodeRedisClient =>
  has(source, "sendCommand", "duplicate", "destroy", "ref") && "isReady" in source && !isNodeRedisCluster(source);

/**
 * Follows a client of node-redis; returns a function that stops. A proxy of node-redis shares its table of listeners
 * with the hidden object, and loses that link when the last listener is removed; an error would then find no listener
 * and end the process. Hence a no-op "error" listener stays if there is no other.
 */
export function follow(client: NodeRedisEmitter, listeners: Readonly<Record<string, NodeRedisListener>>): () => void {
  if (client.listenerCount("error") === 0) client.on("error", () => {});
  for (const [event, listener] of Object.entries(listeners)) client.on(event, listener);
  return () => {
    for (const [event, listener] of Object.entries(listeners)) client.off(event, listener);
  };
}
