import type { MessageBus } from "@hivepace/bus";
import { kafkaBus } from "@hivepace/bus-kafka";
import { natsBus } from "@hivepace/bus-nats";
import { redisPubSubBus } from "@hivepace/bus-redis-pubsub";
import type { SyncStore } from "@hivepace/core";
import { redisSync } from "@hivepace/sync-redis";
import { Redis } from "ioredis";
import type { AgentTask } from "../words.ts";

type Where = Pick<AgentTask, "broker" | "url">;

/** Opens a bus on its own connections. */
export function openBus({ broker, url }: Where): Promise<MessageBus> {
  switch (broker) {
    case "nats":
      return natsBus({ servers: url });
    case "redis":
      return redisPubSubBus({ url });
    case "kafka":
      return kafkaBus({ brokers: [url] });
  }
}

/** Opens a store on its own connection, if the broker is Redis. */
export function openStore({ broker, url }: Where): Promise<SyncStore> | undefined {
  return broker === "redis" ? redisSync({ url, syncTimeoutMs: 1_000 }) : undefined;
}

/** Opens a client that outlives everything it is lent to, if the broker is Redis. */
export function openClient({ broker, url }: Where): Redis | undefined {
  if (broker !== "redis") return undefined;
  const client = new Redis(url, { retryStrategy: () => 200, maxRetriesPerRequest: 1 });
  client.on("error", () => {});
  return client;
}
