import type { MessageBus } from "@hivepace/bus";
import { kafkaBus } from "@hivepace/bus-kafka";
import { natsBus } from "@hivepace/bus-nats";
import { redisPubSubBus } from "@hivepace/bus-redis-pubsub";
import type { SyncStore } from "@hivepace/core";
import { redisSync } from "@hivepace/sync-redis";
import { Redis } from "ioredis";
import type { AgentTask } from "../words.ts";

type Where = Pick<AgentTask, "broker" | "url">;

/** A bus on connections of its own. */
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

/** A store on a connection of its own, where the broker is Redis. */
export function openStore({ broker, url }: Where): Promise<SyncStore> | undefined {
  return broker === "redis" ? redisSync({ url, syncTimeoutMs: 1_000 }) : undefined;
}

/** A client that outlives all to whom it is lent, where the broker is Redis. */
export function openClient({ broker, url }: Where): Redis | undefined {
  if (broker !== "redis") return undefined;
  const client = new Redis(url, { retryStrategy: () => 200, maxRetriesPerRequest: 1 });
  client.on("error", () => {});
  return client;
}
