export { answers, describeError, isRefusal, isReply } from "./errors.ts";
export { oneConnection } from "./ioredis-opener.ts";
export { keepAlive } from "./keep-alive.ts";
export { keySlot } from "./key-slot.ts";
export { lentClient } from "./lent.ts";
export { type Opener, openerOf } from "./libraries.ts";
export { type RedisPlace, redisPlace } from "./options.ts";
export { isCluster, slotOwner } from "./port.ts";
