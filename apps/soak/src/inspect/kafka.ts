import { Kafka, logLevel } from "kafkajs";
import type { Inspection } from "./inspect.ts";

/** Topics that stay: the bus's own, and Kafka's internal one. */
const EXPECTED = ["hivepace-bus", "__consumer_offsets"];

export async function inspectKafka(broker: string): Promise<Inspection> {
  const admin = new Kafka({ brokers: [broker], clientId: "soak", logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  try {
    const { groups } = await admin.listGroups();
    const topics = (await admin.listTopics()).filter((topic) => !EXPECTED.includes(topic));
    return {
      holdings: { "broker groups": groups.length },
      wrong: [{ name: "topics", count: topics.length, which: topics }],
    };
  } finally {
    await admin.disconnect();
  }
}
