/**
 * BullMQ: the queue decides which job runs, the hive decides when it may call. All workers and web processes share one
 * limit.
 */
import { redisPubSubBus } from "@hivepace/bus-redis-pubsub";
import { Queue, QueueEvents, Worker } from "bullmq";
import { CapacityExhaustedError, createHive } from "hivepace";

const url = process.env["REDIS_URL"] ?? "redis://localhost:6379";
const { hostname: host, port } = new URL(url);
const connection = { host, port: Number(port) || 6379 };

const hive = await createHive({
  bus: redisPubSubBus({ url }),
  namespace: "recipe-bullmq",
  expectedAgents: 1,
  endpoints: [{ id: "crm", rpmLimit: 100 }],
});

const name = `sync-${process.pid}`;
const worker = new Worker<{ id: number }, string>(
  name,
  async (job, token) => {
    try {
      using _lease = await hive.acquire({ endpoint: "crm", timeoutMs: 20_000 });
      return `customer ${job.data.id}`; // the call of the API
    } catch (error) {
      if (!(error instanceof CapacityExhaustedError)) throw error;
      await job.moveToDelayed(Date.now() + (error.retryAfterMs ?? 60_000), token);
      const { DelayedError } = await import("bullmq");
      throw new DelayedError(); // BullMQ runs the job later, and counts no failure
    }
  },
  { connection, concurrency: 10 },
);

const queue = new Queue<{ id: number }, string>(name, { connection });
const events = new QueueEvents(name, { connection });
await events.waitUntilReady();
const jobs = await queue.addBulk([1, 2, 3].map((id) => ({ name: "sync", data: { id } })));
console.log(await Promise.all(jobs.map((job) => job.waitUntilFinished(events))));

await worker.close();
await events.close();
await queue.obliterate({ force: true });
await queue.close();
await hive.close();

/* Output:
[ 'customer 1', 'customer 2', 'customer 3' ]
*/
