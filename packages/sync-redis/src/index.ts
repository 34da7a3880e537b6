export type {
  LentRedisClient,
  RedisClient,
  RedisClusterClient,
  RedisClusterOptions,
  RedisPipeline,
} from "@hivepace/redis-client/types";
export type { RedisSyncOptions, RedisSyncStoreOptions } from "./options.ts";
export { redisSync } from "./redis-sync.ts";
