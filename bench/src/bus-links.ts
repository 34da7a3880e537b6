import type { MessageBus } from "@hivepace/bus";
import { kafkaBus } from "@hivepace/bus-kafka";
import { natsBus } from "@hivepace/bus-nats";
import { redisPubSubBus } from "@hivepace/bus-redis-pubsub";
import type { ServerKind } from "@hivepace/servers";
import { Redis } from "ioredis";
import { Kafka, logLevel } from "kafkajs";
import { connect } from "nats";

/** One way from a publisher to a subscriber, each with a connection of its own. */
export interface Link {
  send(payload: Uint8Array): Promise<unknown>;
  /** Called for every message that arrives. */
  onMessage: (payload: Uint8Array) => void;
  close(): Promise<void>;
}

type Open = (address: string) => Promise<Link>;

const SUBJECT = "bench.link";

function busLink(open: (address: string) => Promise<MessageBus>): Open {
  return async (address) => {
    const [publisher, subscriber] = await Promise.all([open(address), open(address)]);
    const link: Link = {
      send: (payload) => publisher.publish(SUBJECT, payload),
      onMessage() {},
      async close() {
        await Promise.all([publisher.close(), subscriber.close()]);
      },
    };
    await subscriber.subscribe(SUBJECT, (payload) => link.onMessage(payload));
    return link;
  };
}

const rawNats: Open = async (servers) => {
  const [publisher, subscriber] = await Promise.all([connect({ servers }), connect({ servers })]);
  const link: Link = {
    async send(payload) {
      publisher.publish(SUBJECT, payload);
    },
    onMessage() {},
    async close() {
      await Promise.all([publisher.close(), subscriber.close()]);
    },
  };
  subscriber.subscribe(SUBJECT, { callback: (_error, message) => link.onMessage(message.data) });
  await subscriber.flush();
  return link;
};

const rawRedis: Open = async (url) => {
  const [publisher, subscriber] = [new Redis(url), new Redis(url)];
  const link: Link = {
    send: (payload) => publisher.publish(SUBJECT, Buffer.from(payload.buffer, payload.byteOffset, payload.length)),
    onMessage() {},
    async close() {
      publisher.disconnect();
      subscriber.disconnect();
    },
  };
  subscriber.on("messageBuffer", (_channel: Buffer, payload: Buffer) => link.onMessage(payload));
  await subscriber.subscribe(SUBJECT);
  await publisher.ping();
  return link;
};

const rawKafka: Open = async (broker) => {
  const kafka = new Kafka({ brokers: [broker], logLevel: logLevel.NOTHING });
  const topic = `bench-raw-${Date.now()}`;
  const admin = kafka.admin();
  await admin.connect();
  await admin.createTopics({ topics: [{ topic, numPartitions: 1 }] });
  await admin.disconnect();
  const producer = kafka.producer({ maxInFlightRequests: 1 });
  const consumer = kafka.consumer({ groupId: topic });
  const link: Link = {
    send: (payload) => producer.send({ topic, messages: [{ value: Buffer.from(payload) }] }),
    onMessage() {},
    async close() {
      await Promise.all([producer.disconnect(), consumer.disconnect()]);
    },
  };
  await Promise.all([producer.connect(), consumer.connect()]);
  await consumer.subscribe({ topic, fromBeginning: true });
  const joined = new Promise((resolve) => consumer.on(consumer.events.GROUP_JOIN, resolve));
  await consumer.run({ eachMessage: async ({ message }) => link.onMessage(message.value ?? new Uint8Array()) });
  await joined;
  return link;
};

type OpenBus = (address: string) => Promise<MessageBus>;
const nats: OpenBus = (servers) => natsBus({ servers });
const redis: OpenBus = (url) => redisPubSubBus({ url });
const kafka: OpenBus = (broker) => kafkaBus({ brokers: [broker] });

/** Each broker: our bus beside its bare client. */
export const brokers: readonly { kind: ServerKind; raw: Open; ours: Open; bus: OpenBus }[] = [
  { kind: "nats", raw: rawNats, ours: busLink(nats), bus: nats },
  { kind: "redis", raw: rawRedis, ours: busLink(redis), bus: redis },
  { kind: "kafka", raw: rawKafka, ours: busLink(kafka), bus: kafka },
];
