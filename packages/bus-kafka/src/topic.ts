import { BusUnavailableError } from "@hivepace/bus";
import { hasType, isRefused, type KafkaAdmin } from "./client.ts";
import type { OffsetRange } from "./inbox.ts";

/** All messages are in this partition: order needs one, and every bus reads everything anyway. */
export const PARTITION = 0;

const UNKNOWN = ["UNKNOWN_TOPIC_OR_PARTITION"];

/** A message is of use for seconds. What is kept is for those who were away; it goes in whole segments. */
const SETTINGS = {
  "cleanup.policy": "delete",
  "retention.ms": "600000",
  "segment.ms": "120000",
  "segment.bytes": "16777216",
  // A broker's default, said here so that a smaller one of this broker does not count.
  "max.message.bytes": "1048588",
  // The broker's clock decides what is old: an agent whose clock is behind would see its messages deleted at once.
  "message.timestamp.type": "LogAppendTime",
};

export async function fetchRange(admin: KafkaAdmin, topic: string): Promise<OffsetRange> {
  const all = await admin.fetchTopicOffsets(topic);
  const found = all.find(({ partition }) => partition === PARTITION);
  if (found === undefined) throw new Error(`the topic ${topic} has no partition ${PARTITION}`);
  return { low: Number(found.low), high: Number(found.high) };
}

/** The range of the topic, which is created if it is not there. */
export async function openTopic(admin: KafkaAdmin, topic: string, create: boolean): Promise<OffsetRange> {
  try {
    return await fetchRange(admin, topic);
  } catch (error) {
    if (!hasType(error, UNKNOWN)) throw isRefused(error) ? refused(`may not read the topic ${topic}`, error) : error;
    if (!create) throw refused(`the topic ${topic} does not exist, and createTopic is false`, error);
  }
  try {
    const configEntries = Object.entries(SETTINGS).map(([name, value]) => ({ name, value }));
    await admin.createTopics({ topics: [{ topic, numPartitions: 1, configEntries }] });
  } catch (error) {
    throw isRefused(error)
      ? refused(`the topic ${topic} does not exist, and the broker would not create it`, error)
      : error;
  }
  return fetchRange(admin, topic);
}

/** The broker is there and says no: waiting will not help, a person will. */
export class KafkaRefusal extends BusUnavailableError {}

function refused(detail: string, cause: unknown): KafkaRefusal {
  return new KafkaRefusal("kafka", detail, { cause });
}
