import { BusUnavailableError, type MessageBus, memoryBus, threadBroker } from "@hivepace/bus";
import { type BusKind, parseBusAddress } from "./bus-address.ts";
import { isMissing, type LoadAdapter } from "./import-adapter.ts";

/** Options for opening a bus or a store. */
export interface ConnectOptions {
  /**
   * Whether to resolve without a broker and become ready when the broker starts, instead of rejecting.
   *
   * @defaultValue false
   */
  readonly waitForBroker?: boolean | undefined;
  /**
   * Milliseconds within which the broker must answer.
   *
   * @defaultValue the default of the adapter
   */
  readonly connectTimeoutMs?: number | undefined;
}

type BrokerKind = Exclude<BusKind, "memory">;

/** An adapter, and the client package to install with it. */
export const busAdapters: Readonly<Record<BrokerKind, { readonly name: string; readonly client: string }>> = {
  nats: { name: "@hivepace/bus-nats", client: "@nats-io/transport-node" },
  redis: { name: "@hivepace/bus-redis-pubsub", client: "ioredis" },
  kafka: { name: "@hivepace/bus-kafka", client: "kafkajs" },
};

/**
 * Opens the bus at an address.
 *
 * @throws InvalidConfigError when `address` is not an address.
 * @throws BusUnavailableError when the broker cannot be reached, or when the adapter or its client is not installed;
 * the message then contains the install command.
 */
export async function connectBus(
  address: string,
  load: LoadAdapter,
  { waitForBroker, connectTimeoutMs }: ConnectOptions = {},
): Promise<MessageBus> {
  const parsed = parseBusAddress(address);
  const given = { waitForBroker, connectTimeoutMs };
  switch (parsed.kind) {
    case "memory":
      return memoryBus(threadBroker(parsed.name));
    case "nats": {
      const { natsBus } = await adapter<typeof import("@hivepace/bus-nats")>("nats", load);
      return natsBus({ servers: parsed.url, ...given });
    }
    case "redis": {
      const { redisPubSubBus } = await adapter<typeof import("@hivepace/bus-redis-pubsub")>("redis", load);
      return redisPubSubBus({ url: parsed.url, ...given });
    }
    case "kafka": {
      const { kafkaBus } = await adapter<typeof import("@hivepace/bus-kafka")>("kafka", load);
      return kafkaBus({ brokers: [parsed.url], ...given });
    }
  }
}

async function adapter<T>(kind: BrokerKind, load: LoadAdapter): Promise<T> {
  const { name, client } = busAdapters[kind];
  try {
    return (await load(name)) as T;
  } catch (cause) {
    if (!isMissing(cause, name)) throw cause;
    throw new BusUnavailableError(kind, `the adapter is not installed: npm install ${name} ${client}`, { cause });
  }
}
