export type {
  LentRedisClient,
  RedisClient,
  RedisClusterClient,
  RedisClusterOptions,
} from "@hivepace/redis-client/types";
export type { RedisPubSubBusOptions, RedisPubSubOptions } from "./options.ts";
export { redisPubSubBus } from "./redis-pubsub-bus.ts";
export { redisPubSubSupports } from "./redis-pubsub-driver.ts";
