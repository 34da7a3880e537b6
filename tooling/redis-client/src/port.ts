/**
 * The client interface that the Redis packages are written against. ioredis 5 and 6 satisfy it directly; the adapters
 * in `node-redis` implement it for node-redis.
 */

import type { AnyRedisClient, RedisClusterClient } from "../types.ts";

export type { AnyRedisClient, RedisClient, RedisClusterClient, RedisPipeline } from "../types.ts";

export function isCluster(client: AnyRedisClient): client is RedisClusterClient {
  return "isCluster" in client && client.isCluster === true;
}

/** Returns an identifier of the node that owns a slot; slots of one node have equal identifiers. */
export function slotOwner(client: RedisClusterClient, slot: number): string {
  return client.ownerOf?.(slot) ?? client.slots[slot]?.join(";") ?? "";
}
