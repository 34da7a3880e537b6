export type { ClusterNode, RedisClient, RedisClusterClient } from "./client.ts";
export type { RedisClusterOptions, RedisPubSubBusOptions, RedisPubSubOptions } from "./options.ts";
export { redisPubSubBus } from "./redis-pubsub-bus.ts";
export { redisPubSubSupports } from "./redis-pubsub-driver.ts";
