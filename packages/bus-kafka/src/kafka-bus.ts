import { DriverBus, type MessageBus } from "@hivepace/bus";
import { InvalidConfigError } from "@hivepace/core";
import { checkKnown, type OptionNames } from "@hivepace/core/internal";
import type { KafkaClient, LinkClient } from "./client.ts";
import { KafkaDriver } from "./kafka-driver.ts";
import { checkOptions, type KafkaBusOptions, type KafkaConnection, readConnection } from "./options.ts";
import { ownClients } from "./own-client.ts";

/**
 * Opens a bus on a Kafka topic. Resolves when the bus is ready: no message published from then on is missed (see `waitForBroker`).
 *
 * `source` is either connection options or a `Kafka` of kafkajs. The bus closes the producers and consumers it creates
 * from a lent client, and leaves the client's settings unchanged.
 *
 * @throws InvalidConfigError when an option is invalid.
 * @throws BusUnavailableError when Kafka cannot be reached or refuses the bus.
 *
 * @example
 * ```ts
 * import { kafkaBus } from "@hivepace/bus-kafka";
 *
 * await using bus = await kafkaBus({ brokers: ["localhost:9092"] });
 * await bus.subscribe("greetings", (payload) => console.log(payload));
 * ```
 */
export async function kafkaBus(
  source: (KafkaConnection & KafkaBusOptions) | KafkaClient,
  options: KafkaBusOptions = {},
): Promise<MessageBus> {
  if (typeof source !== "object" || source === null)
    throw new InvalidConfigError("source", "options with `brokers`, or a Kafka of kafkajs", source);
  const lent = isClient(source);
  checkKnown(lent ? options : { ...source, ...options }, lent ? OPTIONS : { ...OPTIONS, ...CONNECTION });
  const { publishTimeoutMs, closeTimeoutMs, ...own } = lent ? options : { ...source, ...options };
  const settings = checkOptions(pickOptions(own));
  const clients = lent ? () => lend(source) : await ownClients(readConnection(source), settings.connectTimeoutMs);

  let driver: KafkaDriver | undefined;
  const open = (events: ConstructorParameters<typeof KafkaDriver>[2]): KafkaDriver => {
    driver = new KafkaDriver(clients, settings, events);
    return driver;
  };
  const bus = new DriverBus(open, "connecting", { publishTimeoutMs, closeTimeoutMs });
  try {
    await driver?.opened;
  } catch (error) {
    await bus.close();
    throw error;
  }
  return bus;
}

const OPTIONS = {
  topic: true,
  createTopic: true,
  groupPrefix: true,
  waitForBroker: true,
  connectTimeoutMs: true,
  joinTimeoutMs: true,
  publishTimeoutMs: true,
  closeTimeoutMs: true,
} as const satisfies OptionNames<KafkaBusOptions>;

const CONNECTION = {
  brokers: true,
  clientId: true,
  ssl: true,
  sasl: true,
} as const satisfies OptionNames<KafkaConnection>;

function isClient(source: object): source is KafkaClient {
  return "producer" in source && typeof source.producer === "function";
}

const lend = (kafka: KafkaClient): LinkClient => ({ kafka, cut: () => {} });

function pickOptions(options: KafkaBusOptions): KafkaBusOptions {
  const { topic, createTopic, groupPrefix, waitForBroker, connectTimeoutMs, joinTimeoutMs } = options;
  return { topic, createTopic, groupPrefix, waitForBroker, connectTimeoutMs, joinTimeoutMs };
}
