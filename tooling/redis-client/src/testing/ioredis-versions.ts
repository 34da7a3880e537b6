import type { EventEmitter } from "node:events";
import { Cluster as Cluster6, Redis as Redis6 } from "ioredis";
import { Cluster as Cluster5, Redis as Redis5 } from "ioredis-5";
import type { RedisClient, RedisClusterClient } from "../../types.ts";

/** The classes of one version of ioredis, for tests that depend on their options. */
export interface IoredisVersion {
  readonly version: string;
  readonly Redis: new (url: string, options: object) => RedisClient & EventEmitter;
  readonly Sentinel: new (options: object) => RedisClient & EventEmitter;
  readonly Cluster: new (nodes: { host: string; port: number }[], options: object) => RedisClusterClient & EventEmitter;
}

export const ioredisVersions: readonly IoredisVersion[] = [
  { version: "ioredis 6", Redis: Redis6, Sentinel: Redis6, Cluster: Cluster6 },
  { version: "ioredis 5", Redis: Redis5, Sentinel: Redis5, Cluster: Cluster5 },
];
