import { DriverBus, type MessageBus } from "@hivepace/bus";
import { InvalidConfigError } from "@hivepace/core";
import type { KafkaClient, LinkClient } from "./client.ts";
import { KafkaDriver } from "./kafka-driver.ts";
import { checkConnection, checkOptions, type KafkaBusOptions, type KafkaConnection } from "./options.ts";
import { ownClients } from "./own-client.ts";

/**
 * A bus on a topic of Kafka. Resolves when it is ready: nothing that is published from then on would be missed.
 *
 * Takes how to connect, or kafkajs's `Kafka`: what is made from it is ours and closed by us, its settings stay the caller's.
 */
export async function kafkaBus(
  source: (KafkaConnection & KafkaBusOptions) | KafkaClient,
  options: KafkaBusOptions = {},
): Promise<MessageBus> {
  if (typeof source !== "object" || source === null)
    throw new InvalidConfigError("source", "options with `brokers`, or a Kafka of kafkajs", source);
  const lent = isClient(source);
  const { publishTimeoutMs, closeTimeoutMs, ...own } = lent ? options : { ...source, ...options };
  const settings = checkOptions(pickOptions(own));
  if (!lent) checkConnection(source);
  const clients = lent ? () => lend(source) : await ownClients(source, settings.connectTimeoutMs);

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

function isClient(source: object): source is KafkaClient {
  return "producer" in source && typeof source.producer === "function";
}

const lend = (kafka: KafkaClient): LinkClient => ({ kafka, cut: () => {} });

function pickOptions(options: KafkaBusOptions): KafkaBusOptions {
  const { topic, createTopic, groupPrefix, waitForBroker, connectTimeoutMs, joinTimeoutMs } = options;
  return { topic, createTopic, groupPrefix, waitForBroker, connectTimeoutMs, joinTimeoutMs };
}
