import type { BusState, MessageBus } from "@hivepace/bus";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { kafkaBus } from "../src/index.ts";
import { FakeKafka } from "./support/fake-kafka.ts";
import { eventually, text, unavailable, warnings } from "./support/world.ts";

describe("a bus on a Kafka that does what the test says", () => {
  let kafka: FakeKafka;
  let bus: MessageBus;
  const heard: string[] = [];
  const states: BusState[] = [];
  const hear = (subject: string) => bus.subscribe(subject, (payload) => heard.push(`${subject}${text(payload)}`));
  /** Long enough for what happens at once, too short for what happens by time. */
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  const back = async (n: number): Promise<void> => {
    await eventually(() => kafka.groups.length === n && bus.state === "ready", "it is back");
  };

  beforeEach(async () => {
    kafka = new FakeKafka();
    kafka.range = { low: 0, high: 10 };
    heard.length = 0;
    states.length = 0;
    bus = await kafkaBus(kafka);
    bus.onState((state) => states.push(state));
  });
  afterEach(() => bus.close());

  test("begins at the end of the topic", () => {
    expect(kafka.seeks).toEqual(["10"]);
  });

  test("hands to a new subscriber only what came after it, however far behind its consumer is", async () => {
    await hear("a");
    kafka.range = { low: 0, high: 13 };
    await hear("b");
    await kafka.deliver(10, ["a", "b", "b", "b", "a"]);
    expect(heard).toEqual(["a10", "b13", "a14"]);
  });

  test("seeks to the first record not handed on at every join, and hands on none twice", async () => {
    await hear("a");
    await kafka.deliver(10, ["a", "a"]);
    kafka.join();
    expect(kafka.seeks).toEqual(["10", "12"]);
    await kafka.deliver(11, ["a", "a"]);
    expect(heard).toEqual(["a10", "a11", "a12"]);
  });

  test("counts records that it is not shown", async () => {
    await kafka.deliver(10, ["a"], { hidden: 3 });
    kafka.join();
    expect(kafka.seeks.at(-1)).toBe("14");
  });

  test("reads the first partition and pauses the others", async () => {
    await hear("a");
    kafka.join([0, 1, 2]);
    await kafka.deliver(50, ["a"], { partition: 1 });
    expect(kafka.paused).toEqual([[1, 2]]);
    expect(heard).toEqual([]);
  });

  test.for([
    ["crash", { error: new Error("crashed") }],
    ["timeout", {}],
  ] as const)("after a %s goes on in a new group, where it was", async ([event, payload]) => {
    await hear("a");
    await kafka.deliver(10, ["a"]);
    kafka.range = { low: 0, high: 30 };
    kafka.emit(event, payload);
    await turn();
    expect(states).toContain("interrupted");
    await back(2);
    expect(states).toEqual(["interrupted", "ready"]);
    expect(new Set(kafka.groups).size).toBe(2);
    expect(kafka.seeks.at(-1)).toBe("11");
    await kafka.deliver(11, ["a"]);
    expect(heard).toEqual(["a10", "a11"]);
  });

  test("reads a topic that was made again from its beginning", async () => {
    await hear("a");
    await kafka.deliver(10, ["a"]);
    kafka.range = { low: 0, high: 1 };
    await kafka.deliver(0, ["a"]);
    await turn();
    expect(states).toContain("interrupted");
    await back(2);
    await kafka.deliver(0, ["a"]);
    expect(heard).toEqual(["a10", "a0"]);
  });

  test("says so when it was away for too long", async () => {
    await hear("a");
    const codes = await warnings(async () => {
      kafka.range = { low: 20, high: 30 };
      kafka.emit("crash", { error: new Error("crashed") });
      await back(2);
    });
    expect(codes).toEqual(["HIVEPACE_KAFKA_LOST"]);
    expect(kafka.seeks.at(-1)).toBe("20");
  });

  test("closes when its credentials were withdrawn", async () => {
    const codes = await warnings(async () => {
      kafka.trouble = Object.assign(new Error("no"), { name: "KafkaJSSASLAuthenticationError" });
      kafka.emit("crash", { error: new Error("crashed") });
      await eventually(() => bus.state === "closed", "it closes");
    });
    expect(codes).toEqual(["HIVEPACE_KAFKA_REFUSED"]);
    expect(states).toEqual(["interrupted", "closed"]);
  });

  test("deletes its groups at close, those of earlier links too, and leaves nothing open", async () => {
    kafka.emit("crash", { error: new Error("crashed") });
    await back(2);
    await bus.close();
    expect(kafka.deleted).toEqual(kafka.groups);
    expect(kafka.open).toBe(0);
  });

  test("a factory that gives up leaves nothing open", async () => {
    const away = new FakeKafka();
    away.trouble = new Error("away");
    const error = await unavailable(kafkaBus(away, { connectTimeoutMs: 50 }));
    expect(error.message).toMatch(/away$/);
    expect(away.open).toBe(0);
  });
});
