/** The equivalent of a `bottleneck` cluster: one limit for all processes, without Redis on the request path. */
import { setTimeout } from "node:timers/promises";
import { redisPubSubBus } from "@hivepace/bus-redis-pubsub";
import { createHive } from "@hivepace/distributed";
import { redisSync } from "@hivepace/sync-redis";

const url = process.env["REDIS_URL"] ?? "redis://localhost:6379"; // the same Redis as bottleneck's

// Each hive would be in a separate process.
const start = (agentId: string) =>
  createHive({
    bus: redisPubSubBus({ url }), // datastore: "ioredis"
    sync: redisSync({ url }),
    namespace: "my-super-app", // id: "my-super-app"
    agentId,
    expectedAgents: 2,
    endpoints: [{ id: "api", rpmLimit: 60, maxInFlight: 5 }], // reservoir, maxConcurrent
    keys: { acme: { rpmLimit: 4 } }, // limiterA.chain(limiterG)
  });
const [one, other] = await Promise.all([start("one"), start("other")]);

const call = async () => "answered";
const schedule = async (hive: typeof one, key?: string) => {
  const lease = await hive.acquire({ endpoint: "api", key, timeoutMs: 30_000 });
  try {
    return await call();
  } finally {
    lease.done();
  }
};

console.log(await schedule(one, "acme"));
const more = await Promise.allSettled(Array.from({ length: 15 }, (_, i) => schedule(i % 2 ? one : other)));
console.log(more.filter(({ status }) => status === "fulfilled").length, "more");

// Soon both know the usage of both.
const usedByBoth = () => one.explain("api").limits[0]?.used ?? 0;
while (usedByBoth() < 16) await setTimeout(10);
console.log(`${usedByBoth()} used, ${one.status().members} members`);

// At most five at a time over both: the sixth would wait until one has ended.
const held = await Promise.all(Array.from({ length: 5 }, () => other.acquire({ endpoint: "api" })));
await setTimeout(500);
console.log(held.length, one.tryAcquire({ endpoint: "api" }).limitedBy);

// stop({ dropWaitingJobs: true }), and time for those under way.
for (const lease of held) lease.cancel();
await Promise.all([one.close({ drainMs: 1_000 }), other.close({ drainMs: 1_000 })]);

/* Output:
answered
15 more
16 used, 2 members
5 swarm-in-flight
*/
