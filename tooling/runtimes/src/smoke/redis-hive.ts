import { redisPubSubBus } from "@hivepace/bus-redis-pubsub";
import { addressOf } from "./addresses.ts";
import { twoMembersAgree } from "./agreement.ts";
import type { Step } from "./step.ts";

/** A hive whose members agree over Redis pub/sub. */
export const redisHive: Step = {
  name: "hive over Redis pub/sub",
  run: () => twoMembersAgree(() => ({ bus: redisPubSubBus({ url: addressOf("REDIS_URL") }) })),
};
