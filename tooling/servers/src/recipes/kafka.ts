import { join } from "node:path";
import { NotHereError } from "../errors.ts";
import { kafkaProbe } from "../process/probe.ts";
import { debianTree } from "../provision/debian.ts";
import { composeLaunch, requireEngine } from "../provision/docker.ts";
import { run } from "../provision/run.ts";
import { which } from "../provision/which.ts";
import { kafkaFromJars } from "./kafka-jars.ts";
import { CLUSTER_ID, type KafkaOptions, propertiesEnvironment, writeProperties } from "./kafka-properties.ts";
import type { Program, Recipe } from "./recipe.ts";

export const kafka: Recipe<KafkaOptions> = {
  kind: "kafka",
  probe: kafkaProbe,
  startMs: 300_000,
  url: (host, port) => `${host}:${port}`,
  sources: [
    { origin: "path", find: fromPath },
    { origin: "cache", find: kafkaFromJars },
    { origin: "docker", find: fromDocker },
    { origin: "mock", find: kafkaMock },
  ],
};

async function fromPath(): Promise<Program<KafkaOptions>> {
  const command = await which("kafka-server-start.sh", "kafka-server-start");
  const storage = await which("kafka-storage.sh", "kafka-storage");
  return {
    detail: command,
    async launch(place, options) {
      const file = await writeProperties(place, options);
      await run(storage, ["format", "-t", CLUSTER_ID, "-c", file]);
      return { command, args: [file], env: { KAFKA_HEAP_OPTS: "-Xmx512m", LOG_DIR: place.dir } };
    },
  };
}

async function fromDocker(): Promise<Program<KafkaOptions>> {
  await requireEngine();
  return {
    detail: "compose.yaml",
    launch: (place, { properties = {} }) =>
      composeLaunch("kafka", place, { environment: propertiesEnvironment(properties) }),
  };
}

/** librdkafka's mock cluster: speaks the protocol and keeps messages in memory, without a real Kafka. */
export async function kafkaMock(): Promise<Program<KafkaOptions>> {
  const { command, env } = await findKcat();
  // A consumer of an unused topic, which keeps its mock cluster alive.
  const args = ["-b", "127.0.0.1:1", "-C", "-t", "hold", "-X", "test.mock.num.brokers=1", "-d", "mock"];
  return {
    detail: command,
    limits: "librdkafka's mock cluster: no createTopics, no group admin, no restart, joins take 3 s",
    launch: async () => ({ command, args, env, portFromLog: mockPort }),
  };
}

export function mockPort(log: string): number | undefined {
  const port = /bootstrap\.servers=127\.0\.0\.1:(\d+)/.exec(log)?.[1];
  return port === undefined ? undefined : Number(port);
}

async function findKcat(): Promise<{ command: string; env: Record<string, string> }> {
  try {
    return { command: await which("kcat", "kafkacat"), env: {} };
  } catch (error) {
    if (!(error instanceof NotHereError)) throw error;
  }
  const { root, env } = await debianTree({ name: "kcat", packages: ["kcat"], check: ["usr/bin/kcat", "-V"] });
  return { command: join(root, "usr/bin/kcat"), env };
}
