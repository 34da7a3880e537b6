import { natsBus } from "@hivepace/bus-nats";
import { redisPubSubBus } from "@hivepace/bus-redis-pubsub";
import { isHivepaceError, MemoryLimiter } from "@hivepace/core";
import { createHive } from "@hivepace/distributed";
import Bottleneck from "bottleneck";
import { Redis } from "ioredis";
import { pRateLimit, RedisQuotaManager } from "p-ratelimit";
import { RateLimiterQueue, RateLimiterRedis } from "rate-limiter-flexible";
import type { AgentTask, ContenderName } from "./plan.ts";

/**
 * Calls `send` when the limiter admits it, and resolves with true after the response; with false when the wait took too
 * long.
 */
type Paced = (send: () => Promise<Answer>) => Promise<boolean>;

interface Answer {
  readonly isRefused: boolean;
}

export interface Pacer {
  readonly paced: Paced;
  close(): Promise<void>;
}

type Open = (task: AgentTask) => Pacer | Promise<Pacer>;

/** Each library as its own README sets it up for several processes, all with the same limit. */
const OPEN: Readonly<Record<ContenderName, Open>> = {
  "no limiter": () => ({ paced: (send) => send().then(() => true), close: async () => {} }),
  "every agent for itself": (task) => local(task, task.plan.limit),
  "equal split": (task) => local(task, task.plan.limit / task.plan.agents),
  "p-ratelimit on Redis": pRateLimited,
  "bottleneck on Redis": clusteredBottleneck,
  "rate-limiter-flexible on Redis": flexible,
  "Hivepace on Redis": (task) => hive(task, redisPubSubBus({ url: task.redisUrl })),
  "Hivepace on NATS": (task) => hive(task, natsBus({ servers: task.natsUrl })),
};

export async function openPacer(task: AgentTask): Promise<Pacer> {
  return OPEN[task.contender](task);
}

function local({ plan }: AgentTask, capacity: number): Pacer {
  const limiter = new MemoryLimiter();
  // A full-size burst would admit twice the capacity in the first window.
  limiter.setCapacity("provider", capacity, plan.windowMs, { burst: Math.max(1, capacity / 100) });
  return {
    async paced(send) {
      try {
        await limiter.acquire("provider", { timeoutMs: plan.patienceMs });
      } catch (error) {
        if (isHivepaceError(error, "CAPACITY_EXHAUSTED")) return false;
        throw error;
      }
      await send();
      limiter.finish("provider");
      return true;
    },
    close: () => limiter.close(),
  };
}

async function hive({ plan, index, name }: AgentTask, bus: ReturnType<typeof natsBus>): Promise<Pacer> {
  const it = await createHive({
    bus,
    namespace: name,
    agentId: `agent-${index}`,
    windowMs: plan.windowMs,
    expectedAgents: plan.agents,
    endpoints: [{ id: "provider", rpmLimit: plan.limit }],
  });
  return {
    async paced(send) {
      try {
        const lease = await it.acquire({ endpoint: "provider", tokens: 0, timeoutMs: plan.patienceMs });
        if ((await send()).isRefused) lease.refused({ reason: "429" });
        else lease.done();
        return true;
      } catch (error) {
        if (isHivepaceError(error, "CAPACITY_EXHAUSTED")) return false;
        throw error;
      }
    },
    close: () => it.close(),
  };
}

/** For a limiter that cannot cancel waiting calls: a call that is admitted too late is not sent. */
function withPatience(patienceMs: number, schedule: (work: () => Promise<void>) => Promise<void>): Paced {
  return async (send) => {
    const askedAt = performance.now();
    let isInTime = false;
    await schedule(async () => {
      isInTime = performance.now() - askedAt <= patienceMs;
      if (isInTime) await send();
    });
    return isInTime;
  };
}

function pRateLimited({ plan, redisUrl, name }: AgentTask): Pacer {
  const client = new Redis(redisUrl);
  const quota = { rate: plan.limit, interval: plan.windowMs };
  const subscriber = client.duplicate();
  const manager = new RedisQuotaManager(quota, name, [client, subscriber] as never);
  const limited = pRateLimit(manager);
  return {
    paced: withPatience(plan.patienceMs, (work) => limited(work)),
    async close() {
      client.disconnect();
      subscriber.disconnect();
    },
  };
}

async function clusteredBottleneck({ plan, redisUrl, name }: AgentTask): Promise<Pacer> {
  const client = new Redis(redisUrl);
  const connection = new Bottleneck.IORedisConnection({ client });
  const limiter = new Bottleneck({
    id: name,
    connection,
    reservoir: plan.limit,
    reservoirRefreshAmount: plan.limit,
    reservoirRefreshInterval: plan.windowMs,
  });
  await limiter.ready();
  return {
    paced: withPatience(plan.patienceMs, (work) => limiter.schedule(work)),
    async close() {
      await connection.disconnect(false);
    },
  };
}

function flexible({ plan, redisUrl, name }: AgentTask): Pacer {
  const storeClient = new Redis(redisUrl);
  const limiter = new RateLimiterRedis({
    storeClient,
    keyPrefix: name,
    points: Math.floor(plan.limit),
    duration: plan.windowMs / 1_000,
  });
  const queue = new RateLimiterQueue(limiter, { maxQueueSize: 1_000_000 });
  return {
    paced: withPatience(plan.patienceMs, async (work) => {
      await queue.removeTokens(1, "provider");
      await work();
    }),
    async close() {
      storeClient.disconnect();
    },
  };
}
