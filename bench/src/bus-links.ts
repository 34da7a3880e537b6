import type { MessageBus } from "@hivepace/bus";
import { kafkaBus } from "@hivepace/bus-kafka";
import { natsBus } from "@hivepace/bus-nats";
import { redisPubSubBus } from "@hivepace/bus-redis-pubsub";
import type { ServerKind } from "@hivepace/servers";
import { Redis } from "ioredis";
import { Kafka, logLevel } from "kafkajs";
import { connect } from "nats";

/** A path from a publisher to one or more subscribers, each on its own connection. */
export interface Link {
  send(payload: Uint8Array): Promise<unknown>;
  /** Called by each subscriber for every message that arrives. */
  onMessage: (payload: Uint8Array) => void;
  close(): Promise<void>;
}

type Open = (address: string, subscribers?: number) => Promise<Link>;

const SUBJECT = "bench.link";

function several<T>(count: number, open: () => T): T[] {
  return Array.from({ length: count }, open);
}

function busLink(open: (address: string) => Promise<MessageBus>): Open {
  return async (address, count = 1) => {
    const publisher = await open(address);
    const subscribers = await Promise.all(several(count, () => open(address)));
    const link: Link = {
      send: (payload) => publisher.publish(SUBJECT, payload),
      onMessage() {},
      async close() {
        await Promise.all([publisher, ...subscribers].map((bus) => bus.close()));
      },
    };
    for (const subscriber of subscribers) await subscriber.subscribe(SUBJECT, (payload) => link.onMessage(payload));
    return link;
  };
}

const rawNats: Open = async (servers, count = 1) => {
  const publisher = await connect({ servers });
  const subscribers = await Promise.all(several(count, () => connect({ servers })));
  const link: Link = {
    async send(payload) {
      publisher.publish(SUBJECT, payload);
    },
    onMessage() {},
    async close() {
      await Promise.all([publisher, ...subscribers].map((client) => client.close()));
    },
  };
  for (const subscriber of subscribers) {
    subscriber.subscribe(SUBJECT, { callback: (_error, message) => link.onMessage(message.data) });
    await subscriber.flush();
  }
  return link;
};

const rawRedis: Open = async (url, count = 1) => {
  const publisher = new Redis(url);
  const subscribers = several(count, () => new Redis(url));
  const link: Link = {
    send: (payload) => publisher.publish(SUBJECT, Buffer.from(payload.buffer, payload.byteOffset, payload.length)),
    onMessage() {},
    async close() {
      for (const client of [publisher, ...subscribers]) client.disconnect();
    },
  };
  for (const subscriber of subscribers) {
    subscriber.on("messageBuffer", (_channel: Buffer, payload: Buffer) => link.onMessage(payload));
    await subscriber.subscribe(SUBJECT);
  }
  await publisher.ping();
  return link;
};

const rawKafka: Open = async (broker, count = 1) => {
  const kafka = new Kafka({ brokers: [broker], logLevel: logLevel.NOTHING });
  const topic = `bench-raw-${Date.now()}`;
  const admin = kafka.admin();
  await admin.connect();
  await admin.createTopics({ topics: [{ topic, numPartitions: 1 }] });
  await admin.disconnect();
  const producer = kafka.producer({ maxInFlightRequests: 1 });
  let group = 0;
  const consumers = several(count, () => kafka.consumer({ groupId: `${topic}-${group++}` }));
  const link: Link = {
    send: (payload) => producer.send({ topic, messages: [{ value: Buffer.from(payload) }] }),
    onMessage() {},
    async close() {
      await Promise.all([producer, ...consumers].map((client) => client.disconnect()));
    },
  };
  await producer.connect();
  for (const consumer of consumers) {
    await consumer.connect();
    await consumer.subscribe({ topic, fromBeginning: true });
    const joined = new Promise((resolve) => consumer.on(consumer.events.GROUP_JOIN, resolve));
    await consumer.run({ eachMessage: async ({ message }) => link.onMessage(message.value ?? new Uint8Array()) });
    await joined;
  }
  return link;
};

type OpenBus = (address: string) => Promise<MessageBus>;
const nats: OpenBus = (servers) => natsBus({ servers });
const redis: OpenBus = (url) => redisPubSubBus({ url });
const kafka: OpenBus = (broker) => kafkaBus({ brokers: [broker] });

/** Each broker: Hivepace's bus, and the bare client for comparison. */
export const brokers: readonly { kind: ServerKind; raw: Open; ours: Open; bus: OpenBus }[] = [
  { kind: "nats", raw: rawNats, ours: busLink(nats), bus: nats },
  { kind: "redis", raw: rawRedis, ours: busLink(redis), bus: redis },
  { kind: "kafka", raw: rawKafka, ours: busLink(kafka), bus: kafka },
];
