import { BusUnavailableError } from "@hivepace/bus";
import { hasType, isRefused, type KafkaAdmin } from "./client.ts";
import type { OffsetRange } from "./inbox.ts";

/** All messages use this partition: order requires a single one, and every bus reads all messages anyway. */
export const PARTITION = 0;

const UNKNOWN = ["UNKNOWN_TOPIC_OR_PARTITION"];

/**
 * Settings of a new topic. Messages are useful for seconds; the retention covers agents that are away. Kafka deletes
 * whole segments, so segments are short too.
 */
const SETTINGS = {
  "cleanup.policy": "delete",
  "retention.ms": "600000",
  "segment.ms": "120000",
  "segment.bytes": "16777216",
  // Kafka's default, set explicitly in case the default of this broker is smaller.
  "max.message.bytes": "1048588",
  // The broker's clock determines age; with producer timestamps, messages of an agent whose clock is behind might
  // expire at once.
  "message.timestamp.type": "LogAppendTime",
};

/** Returns the offsets of the partition that the bus uses. */
export async function fetchRange(admin: KafkaAdmin, topic: string): Promise<OffsetRange> {
  const all = await admin.fetchTopicOffsets(topic);
  const found = all.find(({ partition }) => partition === PARTITION);
  if (found === undefined) throw new Error(`the topic ${topic} has no partition ${PARTITION}`);
  return { low: Number(found.low), high: Number(found.high) };
}

/** Returns the offsets of the topic, after creating the topic if it does not exist. */
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

/** The broker answered with a refusal that only a person can resolve, so retrying is pointless. */
export class KafkaRefusal extends BusUnavailableError {}

function refused(detail: string, cause: unknown): KafkaRefusal {
  return new KafkaRefusal("kafka", detail, { cause });
}
