import { InvalidConfigError } from "@hivepace/core";
import type { AnyRedisClient } from "../types.ts";
import { LentNodeCluster } from "./node-redis/cluster.ts";
import { LentNodeClient } from "./node-redis/lent-client.ts";
import { LentNodeSentinel } from "./node-redis/lent-sentinel.ts";
import { isNodeRedisClient, isNodeRedisCluster, isNodeRedisSentinel } from "./node-redis/library.ts";

const RULE = "a client of ioredis 5 or 6 or of node-redis 5, or options";

/**
 * Returns the client adapted to the port, or `undefined` if `source` contains options.
 *
 * @throws InvalidConfigError when `source` is neither.
 */
export function lentClient(source: unknown): AnyRedisClient | undefined {
  if (typeof source !== "object" || source === null) throw new InvalidConfigError("source", RULE, source);
  if (isNodeRedisCluster(source)) return new LentNodeCluster(source);
  if (isNodeRedisSentinel(source)) return new LentNodeSentinel(source);
  if (isNodeRedisClient(source)) return new LentNodeClient(source);
  if (isIoredis(source)) return source;
  // The object may be a pool, or a client of another library or version.
  if ("connect" in source && typeof source.connect === "function") throw new InvalidConfigError("source", RULE, source);
  return undefined;
}

function isIoredis(source: object): source is AnyRedisClient {
  return ["duplicate", "pipeline"].every((name) => typeof (source as Record<string, unknown>)[name] === "function");
}
