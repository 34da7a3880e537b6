import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Place } from "../process/place.ts";

export interface KafkaOptions {
  /** Overrides of the defaults below: `{ "group.initial.rebalance.delay.ms": "3000" }`. */
  readonly properties?: Readonly<Record<string, string>>;
}

/** The cluster id of the formatted storage. All clusters share one, because they never communicate. */
export const CLUSTER_ID = "hivepace-servers-00001";

/** A single node that is broker and controller, configured for a small footprint and fast starts and joins. */
export function kafkaProperties(
  { port, secondPort, dir }: Place,
  overrides: Readonly<Record<string, string>> = {},
): Record<string, string> {
  return {
    "process.roles": "broker,controller",
    "node.id": "1",
    "controller.quorum.voters": `1@127.0.0.1:${secondPort}`,
    listeners: `PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${secondPort}`,
    "advertised.listeners": `PLAINTEXT://127.0.0.1:${port}`,
    "controller.listener.names": "CONTROLLER",
    "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
    "log.dirs": `${dir}/data`,
    "num.partitions": "1",
    "default.replication.factor": "1",
    "min.insync.replicas": "1",
    "offsets.topic.num.partitions": "1",
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.num.partitions": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "group.initial.rebalance.delay.ms": "0",
    // A killed broker is accepted again only when its old session has expired: 3 s instead of 9 s.
    "broker.session.timeout.ms": "3000",
    "broker.heartbeat.interval.ms": "500",
    "log.cleaner.dedupe.buffer.size": "4194304",
    "log.index.size.max.bytes": "1048576",
    ...overrides,
  };
}

/** Returns the file's path. */
export async function writeProperties(place: Place, { properties }: KafkaOptions): Promise<string> {
  const file = join(place.dir, "server.properties");
  const lines = Object.entries(kafkaProperties(place, properties)).map(([name, value]) => `${name}=${value}\n`);
  await writeFile(file, lines.join(""));
  return file;
}

/** Converts properties to variables of compose.yaml's image: `num.partitions` becomes `KAFKA_NUM_PARTITIONS`. */
export function propertiesEnvironment(properties: Readonly<Record<string, string>>): Record<string, string> {
  const variable = (name: string): string =>
    `KAFKA_${name.replaceAll("_", "__").replaceAll("-", "___").replaceAll(".", "_").toUpperCase()}`;
  return Object.fromEntries(Object.entries(properties).map(([name, value]) => [variable(name), value]));
}
