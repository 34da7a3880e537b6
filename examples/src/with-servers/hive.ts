/** A swarm on NATS and Redis: two endpoints, tenants, and any number of processes. */
import { natsBus } from "@hivepace/bus-nats";
import { createHive } from "@hivepace/distributed";
import { redisSync } from "@hivepace/sync-redis";
import { connect } from "@nats-io/transport-node";
import { Redis } from "ioredis";

const connection = await connect({ servers: process.env["NATS_URL"] ?? "nats://localhost:4222" });
const redis = new Redis(process.env["REDIS_URL"] ?? "redis://localhost:6379");
const call = async (endpoint: string) => ({ text: `answered by ${endpoint}`, usage: { total: 1_200 } });

// Each hive would be in a separate process, with this same configuration.
const start = () =>
  createHive({
    bus: natsBus(connection),
    sync: redisSync(redis),
    namespace: "prod",
    endpoints: [
      { id: "eu", model: "claude", rpmLimit: 1_000, tpmLimit: 100_000 },
      { id: "us", model: "claude", rpmLimit: 500, tpmLimit: 50_000 },
    ],
    keys: { acme: { rpmLimit: 100, tpmLimit: 50_000 } },
  });

const hives = [];
for (const session of ["conversation-7", "conversation-8"]) {
  const hive = await start();
  hives.push(hive);
  const request = { route: ["eu", "us"], model: "claude", key: "acme", tokens: 1_600, session };
  const lease = await hive.acquire({ ...request, signal: AbortSignal.timeout(30_000) });
  try {
    const { text, usage } = await call(lease.endpoint);
    lease.done({ tokens: usage.total });
    console.log(text);
  } catch (error) {
    lease.cancel();
    throw error;
  }
}

// A new hive joins before its first call, so the second knows the usage of the first. (With several agents, one percent
// of the limit is kept as a margin.)
const newcomer = hives[1];
console.log(newcomer?.explain("eu", "claude").text);
console.log(`${newcomer?.status().members} agents, and the store is ${newcomer?.status().sync?.state}`);

// Closing the hives also closes the bus and the store that were created for them. The clients were lent, and stay open.
await Promise.all(hives.map((hive) => hive.close()));
console.log(connection.isClosed(), redis.status);
await connection.close();
await redis.quit();

/* Output:
answered by eu
answered by us
eu (claude): 1200 of 99000 tokens used in the last 60 s; has room now
2 agents, and the store is fresh
false ready
*/
