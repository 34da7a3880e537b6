export type { RedisClient, RedisClusterClient, RedisPipeline } from "./client.ts";
export type { RedisClusterOptions, RedisSyncOptions, RedisSyncStoreOptions } from "./options.ts";
export { redisSync } from "./redis-sync.ts";
