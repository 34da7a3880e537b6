import { redisPubSubBus } from "@hivepace/bus-redis-pubsub";
import { createHive } from "@hivepace/distributed";
import { Queue, Worker } from "bullmq";
import { Redis } from "ioredis";
import { Semaphore } from "redis-semaphore";

/** The limit that the contenders share, and the agents that share it. */
export interface SlotPlan {
  readonly agents: number;
  /** Callers of each agent, each with one call at a time. */
  readonly callers: number;
  readonly slots: number;
}

/** Agents that run calls within one shared limit on calls under way. */
export interface SlotContender {
  /** Waits for a slot, runs `work` in it, and gives the slot back. */
  run(agent: number, work: () => Promise<void>): Promise<void>;
  close(): Promise<void>;
}

/** Connects all agents of a contender, each with connections of its own. */
export type OpenContender = (url: string, plan: SlotPlan) => Promise<SlotContender>;

const NAME = "bench-slots";
const LEASE_MS = 10_000;

const hivepace: OpenContender = async (url, { agents, slots }) => {
  const hives = await Promise.all(
    Array.from({ length: agents }, (_, i) =>
      createHive({
        // Given as a promise, so that the hive closes it.
        bus: redisPubSubBus({ url }),
        agentId: `agent-${i}`,
        namespace: NAME,
        expectedAgents: agents,
        endpoints: [{ id: "model", maxInFlight: slots }],
        leaseMs: LEASE_MS,
      }),
    ),
  );
  return {
    async run(agent, work) {
      const lease = await (hives[agent] as (typeof hives)[number]).acquire({ endpoint: "model" });
      try {
        await work();
      } finally {
        lease.done();
      }
    },
    async close() {
      await Promise.all(hives.map((hive) => hive.close()));
    },
  };
};

const semaphore: OpenContender = async (url, { agents, slots }) => {
  const clients = Array.from({ length: agents }, () => new Redis(url));
  return {
    async run(agent, work) {
      // An instance holds one slot, so every call has its own.
      const own = new Semaphore(clients[agent] as Redis, NAME, slots, {
        acquireTimeout: 60_000,
        lockTimeout: LEASE_MS,
      });
      await own.acquire();
      try {
        await work();
      } finally {
        await own.release();
      }
    },
    async close() {
      for (const client of clients) client.disconnect();
    },
  };
};

const bullmq: OpenContender = async (url, { agents, callers, slots }) => {
  const { hostname: host, port } = new URL(url);
  const connection = { host, port: Number(port), maxRetriesPerRequest: null };
  const works = new Map<string, { work: () => Promise<void>; settle: () => void }>();
  const queues = Array.from({ length: agents }, () => new Queue(NAME, { connection }));
  await (queues[0] as Queue).setGlobalConcurrency(slots);
  const workers = queues.map(
    () =>
      new Worker(
        NAME,
        async ({ name }) => {
          const job = works.get(name);
          if (!job) return;
          try {
            await job.work();
          } finally {
            works.delete(name);
            job.settle();
          }
        },
        { connection, concurrency: callers },
      ),
  );
  await Promise.all(workers.map((worker) => worker.waitUntilReady()));
  let added = 0;
  return {
    run(agent, work) {
      const name = `job-${added++}`;
      return new Promise((settle, reject) => {
        works.set(name, { work, settle });
        (queues[agent] as Queue).add(name, {}, { removeOnComplete: true, removeOnFail: true }).catch(reject);
      });
    },
    async close() {
      await Promise.all(workers.map((worker) => worker.close()));
      await Promise.all(queues.map((queue) => queue.close()));
    },
  };
};

export const slotContenders: readonly {
  readonly name: string;
  readonly note?: string;
  readonly open: OpenContender;
}[] = [
  { name: "Hivepace", note: "over Redis pub/sub", open: hivepace },
  { name: "redis-semaphore", note: "asks Redis again every 10 ms until a slot is free", open: semaphore },
  { name: "BullMQ", note: "a queue's global concurrency; a call is a job, which Redis stores", open: bullmq },
];
