import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { BusState, MessageBus } from "@hivepace/bus";
import { describeOwnServer } from "@hivepace/servers/vitest";
import { ConfigResourceTypes, Kafka, logLevel } from "kafkajs";
import { expect, test } from "vitest";
import { kafkaBus } from "../src/index.ts";
import { bytes, eventually, listen, quietKafka, unavailable, warnings, withAdmin } from "./support/world.ts";

describeOwnServer("kafka", (server) => {
  const open = (options = {}): Promise<MessageBus> => kafkaBus({ brokers: [server().url], ...options });

  test("a created topic has a short retention", async () => {
    await using _ = await open({ topic: "made" });
    const { resources } = await withAdmin(server().url, (admin) =>
      admin.describeConfigs({
        includeSynonyms: false,
        resources: [{ type: ConfigResourceTypes.TOPIC, name: "made" }],
      }),
    );
    const entries = resources[0]?.configEntries.map(({ configName, configValue }) => [configName, configValue]) ?? [];
    expect(Object.fromEntries(entries)).toMatchObject({
      "cleanup.policy": "delete",
      "retention.ms": "600000",
      "segment.ms": "120000",
      "max.message.bytes": "1048588",
      "message.timestamp.type": "LogAppendTime",
    });
  });

  test("a missing topic with createTopic false is reported at once", async () => {
    const error = await unavailable(open({ topic: "nowhere", createTopic: false }));
    expect(error.message).toMatch(/nowhere does not exist, and createTopic is false/);
  });

  test("an existing topic is used unchanged, even with foreign records and several partitions", async () => {
    await withAdmin(server().url, (admin) => admin.createTopics({ topics: [{ topic: "theirs", numPartitions: 3 }] }));
    const producer = quietKafka(server().url).producer();
    await producer.connect();
    const foreign = [0, 1, 2].flatMap((partition) => [
      { partition, value: "not ours" },
      { partition, value: null },
    ]);
    await producer.send({ topic: "theirs", messages: foreign });
    await using bus = await open({ topic: "theirs" });
    const heard = await listen(bus, "a");
    await producer.send({ topic: "theirs", messages: foreign });
    for (const message of ["1", "2", "3"]) await bus.publish("a", bytes(message));
    await eventually(() => heard.length === 3, "all arrive");
    expect(heard).toEqual(["1", "2", "3"]);
    await producer.disconnect();
  });

  test("a message above the limit of the topic is rejected, and the bus stays ready", async () => {
    await withAdmin(server().url, (admin) =>
      admin.createTopics({
        topics: [{ topic: "small", configEntries: [{ name: "max.message.bytes", value: "1000" }] }],
      }),
    );
    await using bus = await open({ topic: "small" });
    const states: BusState[] = [];
    bus.onState((state) => states.push(state));
    const heard = await listen(bus, "a");
    await unavailable(bus.publish("a", new Uint8Array(5_000)));
    await bus.publish("a", bytes("small"));
    await eventually(() => heard.length === 1, "the small one arrives");
    expect(states).toEqual([]);
  });

  test("a topic that is deleted during operation is recreated, and its messages arrive", async () => {
    await using bus = await open({ topic: "replaced" });
    const heard = await listen(bus, "a");
    for (let i = 0; i < 20; i++) await bus.publish("a", bytes("before"));
    await eventually(() => heard.length === 20, "all arrive");
    await withAdmin(server().url, (admin) => admin.deleteTopics({ topics: ["replaced"] }));
    await eventually(async () => {
      await bus.publish("a", bytes("after")).catch(() => {});
      return heard.includes("after");
    }, "a message on the new topic arrives");
  });

  test("close deletes the consumer group", async () => {
    const groupPrefix = "left-behind-";
    const bus = await open({ groupPrefix });
    const groups = () =>
      withAdmin(server().url, async (admin) => {
        const all = (await admin.listGroups()).groups;
        return all.filter(({ groupId }) => groupId.startsWith(groupPrefix)).length;
      });
    expect(await groups()).toBe(1);
    await bus.close();
    expect(await groups()).toBe(0);
  });

  test("a lent client keeps working after close", async () => {
    const kafka = new Kafka({ brokers: [server().url], logLevel: logLevel.NOTHING });
    const theirs = kafka.producer();
    await theirs.connect();
    const bus = await kafkaBus(kafka, { topic: "lent", groupPrefix: "lent-" });
    const heard = await listen(bus, "a");
    await bus.publish("a", bytes("1"));
    await eventually(() => heard.length === 1, "the message arrives");
    await bus.close();
    await theirs.send({ topic: "lent", messages: [{ value: "still here" }] });
    await theirs.disconnect();
    await using again = await kafkaBus(kafka, { topic: "lent" });
    expect(again.state).toBe("ready");
  });

  test("a lent client with many retries of its own notices an outage too, and loses no message", async () => {
    const kafka = new Kafka({ brokers: [server().url], logLevel: logLevel.NOTHING, retry: { retries: 5 } });
    await using bus = await kafkaBus(kafka, { topic: "lent" });
    await using publisher = await open({ topic: "lent" });
    const heard = await listen(bus, "a");
    await server().kill();
    await eventually(() => bus.state === "interrupted" && publisher.state === "interrupted", "both notice");
    await server().start();
    await eventually(() => publisher.state === "ready", "the publisher is back");
    await publisher.publish("a", bytes("1"));
    await eventually(() => heard.length === 1, "the message arrives");
    expect(bus.state).toBe("ready");
  });

  test("a subscriber that was away receives all messages published meanwhile, in order, each once", async () => {
    // Only the subscriber's client is cut off; the broker keeps running.
    const sockets: { destroy(error: Error): unknown }[] = [];
    let isCut = false;
    const { connect } = await import("node:net");
    const socketFactory = ({ host, port, onConnect }: { host: string; port: number; onConnect: () => void }) => {
      const socket = connect({ host, port: isCut ? 1 : port }, onConnect);
      sockets.push(socket);
      return socket;
    };
    const kafka = new Kafka({
      ...{ brokers: [server().url], logLevel: logLevel.NOTHING },
      ...{ socketFactory, retry: { retries: 0 } },
    });
    await using bus = await kafkaBus(kafka);
    await using publisher = await open();
    const heard = await listen(bus, "away");
    await publisher.publish("away", bytes("0"));
    await eventually(() => heard.length === 1, "the first arrives");
    isCut = true;
    for (const socket of sockets) socket.destroy(new Error("cut off"));
    await eventually(() => bus.state === "interrupted", "the outage is noticed");
    for (let i = 1; i <= 50; i++) await publisher.publish("away", bytes(`${i}`));
    isCut = false;
    await eventually(() => heard.length >= 51, "all arrive");
    expect(heard).toEqual(Array.from({ length: 51 }, (_, i) => `${i}`));
  });

  test("after an outage of ten seconds under traffic, confirmed messages have arrived in order, each once", async () => {
    const [a, b] = await Promise.all([open(), open()]);
    const publisher = await open();
    const heard = [await listen(a, "traffic"), await listen(b, "traffic")];
    const confirmed: string[] = [];
    const unsure = new Set<string>();
    let going = true;
    const traffic = (async () => {
      for (let i = 0; going; i++) {
        await publisher.publish("traffic", bytes(`${i}`)).then(
          () => confirmed.push(`${i}`),
          () => unsure.add(`${i}`),
        );
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
    })();
    await eventually(() => confirmed.length > 100, "traffic flows");
    await server().kill();
    // The outage must exceed every timeout involved. No assertion depends on its exact length.
    await new Promise((resolve) => setTimeout(resolve, 10_000));
    await server().start();
    const atReturn = confirmed.length;
    await eventually(() => confirmed.length > atReturn + 100, "traffic flows again");
    going = false;
    await traffic;
    const last = confirmed.at(-1) ?? "";
    await eventually(() => heard.every((list) => list.includes(last)), "the last one arrives");
    // A rejected message may have arrived anyway; every other message that arrived must have been confirmed.
    for (const list of heard) {
      expect(list.filter((message) => !unsure.has(message))).toEqual(confirmed);
      expect(new Set(list).size).toBe(list.length);
      expect(list).toEqual([...list].sort((x, y) => Number(x) - Number(y)));
    }
    await Promise.all([a, b, publisher].map((bus) => bus.close()));
  });

  test("with a broker that does not answer, publish rejects in bounded time and the bus recovers", async () => {
    await using bus = await open();
    const heard = await listen(bus, "paused");
    await server().pause();
    try {
      await unavailable(bus.publish("paused", bytes("lost or not")));
      await eventually(() => bus.state === "interrupted", "the outage is noticed");
      await unavailable(bus.publish("paused", bytes("never sent")));
    } finally {
      await server().resume();
    }
    await eventually(() => bus.state === "ready", "the bus is back");
    await bus.publish("paused", bytes("after"));
    await eventually(() => heard.includes("after"), "a message arrives");
    expect(heard).not.toContain("never sent");
  });

  test("close of a bus whose broker does not answer ends in bounded time, without a warning", async () => {
    const bus = await open();
    await server().pause();
    try {
      expect(await warnings(() => bus.close())).toEqual([]);
    } finally {
      await server().resume();
    }
  });

  test("without a broker the factory rejects with the cause", async () => {
    await server().kill();
    try {
      const error = await unavailable(open({ connectTimeoutMs: 500 }));
      expect(error.message).toMatch(/ECONNREFUSED/);
      expect(error.cause).toBeInstanceOf(Error);
    } finally {
      await server().start();
    }
  });

  test("with a broker that does not answer, the factory rejects in bounded time", async () => {
    await server().pause();
    try {
      await unavailable(open({ connectTimeoutMs: 500 }));
    } finally {
      await server().resume();
    }
  });

  test("with waitForBroker the bus becomes ready when the broker starts", async () => {
    await server().kill();
    const bus = await open({ waitForBroker: true });
    expect(bus.state).toBe("connecting");
    await unavailable(bus.publish("a", bytes("x")));
    const subscribed = listen(bus, "a");
    await server().start();
    const heard = await subscribed;
    expect(bus.state).toBe("ready");
    await bus.publish("a", bytes("1"));
    await eventually(() => heard.length === 1, "the message arrives");
    await bus.close();
  });

  test.for(["wait", "now"])("a process that opened and closed a bus exits by itself (%s)", async (mode) => {
    expect(await exitCode(server().url, mode)).toBe(0);
  });

  test("a process that closed a bus while waiting for the broker exits by itself", async () => {
    expect(await exitCode("127.0.0.1:1", "wait")).toBe(0);
  });

  test("records of a later format version are ignored", async () => {
    await using bus = await open({ topic: "versions" });
    const heard = await listen(bus, "a");
    const producer = quietKafka(server().url).producer();
    await producer.connect();
    await producer.send({ topic: "versions", messages: [{ value: Buffer.from([0x48, 2, 1, 0x61, 0x78]) }] });
    await producer.send({ topic: "versions", messages: [{ value: Buffer.from([0x48, 1, 1, 0x61, 0x79]) }] });
    await producer.disconnect();
    await eventually(() => heard.length > 0, "ours arrives");
    expect(heard).toEqual(["y"]);
  });
});

describeOwnServer(
  "kafka",
  (server) => {
    test("with the default join delay and short-lived idle connections the bus stays ready", async () => {
      const options = { brokers: [server().url] };
      const [bus, publisher] = await Promise.all([kafkaBus(options), kafkaBus(options)]);
      const states: BusState[] = [];
      for (const one of [bus, publisher]) one.onState((state) => states.push(state));
      const heard = await listen(bus, "a");
      // The pause exceeds the broker's limit for idle connections.
      await new Promise((resolve) => setTimeout(resolve, 7_000));
      await publisher.publish("a", bytes("1"));
      const more = await listen(publisher, "more");
      await bus.publish("more", bytes("2"));
      await eventually(() => heard.length === 1 && more.length === 1, "both arrive");
      expect(states).toEqual([]);
      await Promise.all([bus.close(), publisher.close()]);
    });
  },
  { properties: { "group.initial.rebalance.delay.ms": "3000", "connections.max.idle.ms": "4500" } },
);

async function exitCode(url: string, mode: string): Promise<unknown> {
  const script = fileURLToPath(new URL("./support/open-and-close.ts", import.meta.url));
  const args = ["--conditions", "@hivepace/source", "--import", "tsx", script, url, mode];
  const child = spawn(process.execPath, args, { stdio: "inherit" });
  const late = setTimeout(() => child.kill(), 30_000);
  const [code] = (await once(child, "exit")) as [number | null];
  clearTimeout(late);
  return code;
}
