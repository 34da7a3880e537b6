import { cp, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { NotHereError } from "../errors.ts";
import { GuardedProcess } from "../process/guarded-process.ts";
import type { Launch } from "../process/launch.ts";
import { claimPlace, type Place } from "../process/place.ts";
import { kafkaProbe } from "../process/probe.ts";
import { untilReady } from "../process/ready.ts";
import { cached } from "../provision/cache.ts";
import { run } from "../provision/run.ts";
import { which } from "../provision/which.ts";
import { CLUSTER_ID, type KafkaOptions, writeProperties } from "./kafka-properties.ts";
import type { Program } from "./recipe.ts";

// 3.9.1 started faster than 4.1.0 with every set of options tried.
const jars = {
  "org.apache.kafka:kafka_2.13": "3.9.1",
  "org.slf4j:slf4j-reload4j": "1.7.36",
};
const logging = `log4j.rootLogger=WARN, out
log4j.appender.out=org.apache.log4j.ConsoleAppender
log4j.appender.out.layout=org.apache.log4j.PatternLayout
log4j.appender.out.layout.ConversionPattern=%d{HH:mm:ss,SSS} %p %c{1} %m%n
`;
const jvm = ["-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Dlog4j.configuration=file:log4j.properties"];

/** Apache Kafka from its jars through Maven, run by the Java on the PATH. */
export async function kafkaFromJars(): Promise<Program<KafkaOptions>> {
  const java = await which("java");
  const folder = await cached("kafka", { jars, logging, jvm }, (work) => build(work, java)).catch((error: Error) => {
    throw new NotHereError(`Kafka's jars: ${error.message}`);
  });
  const archive = "-XX:SharedArchiveFile=classes.jsa";
  return { detail: folder, launch: (place, options) => launch(folder, java, place, options, archive) };
}

async function launch(
  folder: string,
  java: string,
  place: Place,
  options: KafkaOptions,
  archive: string,
): Promise<Launch> {
  const file = await writeProperties(place, options);
  await cp(join(folder, "formatted"), join(place.dir, "data"), { recursive: true });
  return { command: java, args: [...jvm, archive, "-cp", await classPath(folder), "kafka.Kafka", file], cwd: folder };
}

/** Relative and in a fixed order: a class archive is valid only for the class path that created it. */
async function classPath(folder: string): Promise<string> {
  const names = await readdir(join(folder, "libs"));
  return names
    .sort()
    .map((name) => `libs/${name}`)
    .join(":");
}

/**
 * Besides the jars the folder contains results that every start would compute again: formatted storage (saves a run of
 * Java) and a class archive (saves a third or more of the start), written by a first run that also proves that this
 * Java can run it.
 */
async function build(folder: string, java: string): Promise<void> {
  await which("mvn");
  console.error("[servers] fetching Kafka's jars through Maven into the cache folder, once");
  await writeFile(join(folder, "pom.xml"), pom(jars));
  const goal = ["dependency:copy-dependencies", "-DincludeScope=runtime", "-DoutputDirectory=libs"];
  await run("mvn", ["-q", "-B", ...goal], { cwd: folder });
  await writeFile(join(folder, "log4j.properties"), logging);

  const place = await claimPlace();
  const first = new GuardedProcess(place.dir);
  try {
    const file = await writeProperties(place, {});
    const format = ["kafka.tools.StorageTool", "format", "-t", CLUSTER_ID, "-c", file];
    await run(java, [...jvm, "-cp", await classPath(folder), ...format], { cwd: folder });
    await cp(join(place.dir, "data"), join(folder, "formatted"), { recursive: true });
    await first.start(await launch(folder, java, place, {}, "-XX:ArchiveClassesAtExit=classes.jsa"));
    await untilReady("kafka", first, { host: "127.0.0.1", port: place.port }, kafkaProbe, 60_000);
    await first.signal("SIGTERM");
    await first.gone();
  } finally {
    await first.end();
  }
}

export function pom(dependencies: Readonly<Record<string, string>>): string {
  const items = Object.entries(dependencies).map(([name, version]) => {
    const [group, artifact] = name.split(":");
    return `<dependency><groupId>${group}</groupId><artifactId>${artifact}</artifactId><version>${version}</version></dependency>`;
  });
  return `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>hivepace</groupId><artifactId>kafka</artifactId><version>1</version>
  <dependencies>${items.join("")}</dependencies>
</project>
`;
}
