import type { MessageBus } from "@hivepace/bus";
import { kafkaBus } from "@hivepace/bus-kafka";
import { natsBus } from "@hivepace/bus-nats";
import { redisPubSubBus } from "@hivepace/bus-redis-pubsub";

export type BrokerKind = "nats" | "redis" | "kafka";

export function openBus(kind: BrokerKind, url: string): Promise<MessageBus> {
  switch (kind) {
    case "nats":
      return natsBus({ servers: url });
    case "redis":
      return redisPubSubBus({ url });
    case "kafka":
      return kafkaBus({ brokers: [url] });
  }
}
