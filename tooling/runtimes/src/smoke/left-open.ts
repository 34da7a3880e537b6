/** Leaves a hive, its store and a limiter open. The process must exit by itself nevertheless. */
import { memoryBus } from "@hivepace/bus";
import { MemoryLimiter } from "@hivepace/core";
import { createHive } from "@hivepace/distributed";
import { redisSync } from "@hivepace/sync-redis";
import { addressOf } from "./addresses.ts";

const limiter = new MemoryLimiter();
limiter.setCapacity("api", 1, 60_000);
limiter.tryAcquire("api");
const hive = await createHive({
  bus: memoryBus(),
  sync: redisSync({ url: addressOf("REDIS_URL") }),
  namespace: `smoke-${crypto.randomUUID()}`,
  endpoints: [{ id: "api", rpmLimit: 10 }],
});
const lease = await hive.acquire({ endpoint: "api" });
console.log(`ok a process with an open hive ends: a call to ${lease.endpoint} was granted`);
console.log("done 1 of 1");
