import { BusUnavailableError, type MessageBus, memoryBus, threadBroker } from "@hivepace/bus";
import { type BusKind, parseBusAddress } from "./bus-address.ts";
import { isMissing, loadAdapter } from "./load-adapter.ts";

export interface OpenBusOptions {
  /** Open it without a broker, and become ready when one comes, instead of rejecting. Default: false. */
  readonly waitForBroker?: boolean | undefined;
  /** How long the broker may take before it counts as not there. Default: the adapter's. */
  readonly connectTimeoutMs?: number | undefined;
  /** Where adapters come from, by their names on npm. Default: from beside this module, or from the working directory. */
  readonly load?: ((adapter: string) => Promise<unknown>) | undefined;
}

type BrokerKind = Exclude<BusKind, "memory">;

/** An adapter, and what is on npm beside it. */
export const busAdapters: Readonly<Record<BrokerKind, { readonly name: string; readonly client: string }>> = {
  nats: { name: "@hivepace/bus-nats", client: "@nats-io/transport-node" },
  redis: { name: "@hivepace/bus-redis-pubsub", client: "ioredis" },
  kafka: { name: "@hivepace/bus-kafka", client: "kafkajs" },
};

/**
 * The bus at this address. Rejects with INVALID_CONFIG for an address that is none, and with BUS_UNAVAILABLE when the
 * broker is away, or when the adapter or its client is not installed: the message then has the line that installs it.
 */
export async function openBus(address: string, options: OpenBusOptions = {}): Promise<MessageBus> {
  const parsed = parseBusAddress(address);
  const given = {
    ...(options.waitForBroker !== undefined && { waitForBroker: options.waitForBroker }),
    ...(options.connectTimeoutMs !== undefined && { connectTimeoutMs: options.connectTimeoutMs }),
  };
  switch (parsed.kind) {
    case "memory":
      return memoryBus(threadBroker(parsed.name));
    case "nats": {
      const { natsBus } = await adapter<typeof import("@hivepace/bus-nats")>("nats", options);
      const { kind: _, servers, ...credentials } = parsed;
      return natsBus({ servers: [...servers], ...credentials, ...given });
    }
    case "redis": {
      const { redisPubSubBus } = await adapter<typeof import("@hivepace/bus-redis-pubsub")>("redis", options);
      return redisPubSubBus({ url: parsed.url, ...given });
    }
    case "kafka": {
      const { kafkaBus } = await adapter<typeof import("@hivepace/bus-kafka")>("kafka", options);
      return kafkaBus({ brokers: [...parsed.brokers], ...given });
    }
  }
}

async function adapter<T>(kind: BrokerKind, { load = loadAdapter }: OpenBusOptions): Promise<T> {
  const { name, client } = busAdapters[kind];
  try {
    return (await load(name)) as T;
  } catch (cause) {
    if (!isMissing(cause, name)) throw cause;
    throw new BusUnavailableError(kind, `its adapter is not installed: npm install ${name} ${client}`, { cause });
  }
}
