import type { BusState, MessageBus } from "@hivepace/bus";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { kafkaBus } from "../src/index.ts";
import { FakeKafka } from "./support/fake-kafka.ts";
import { eventually, text, unavailable, warnings } from "./support/world.ts";

describe("a bus on a scripted Kafka", () => {
  let kafka: FakeKafka;
  let bus: MessageBus;
  const heard: string[] = [];
  const states: BusState[] = [];
  const hear = (subject: string) => bus.subscribe(subject, (payload) => heard.push(`${subject}${text(payload)}`));
  /** Waits one turn of the event loop, so that immediate effects have happened and timers have not fired. */
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  const back = async (n: number): Promise<void> => {
    await eventually(() => kafka.groups.length === n && bus.state === "ready", "the bus is back");
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

  test("delivers to a new subscriber only later records, no matter how far its consumer is behind", async () => {
    await hear("a");
    kafka.range = { low: 0, high: 13 };
    await hear("b");
    await kafka.deliver(10, ["a", "b", "b", "b", "a"]);
    expect(heard).toEqual(["a10", "b13", "a14"]);
  });

  test("seeks to the first undelivered record at every join, and delivers each record once", async () => {
    await hear("a");
    await kafka.deliver(10, ["a", "a"]);
    kafka.join();
    expect(kafka.seeks).toEqual(["10", "12"]);
    await kafka.deliver(11, ["a", "a"]);
    expect(heard).toEqual(["a10", "a11", "a12"]);
  });

  test("counts records that kafkajs does not expose", async () => {
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
  ] as const)("after a %s continues at its position in a new group", async ([event, payload]) => {
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

  test("reads a recreated topic from the beginning", async () => {
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

  test("warns when records were deleted while it was away", async () => {
    await hear("a");
    const codes = await warnings(async () => {
      kafka.range = { low: 20, high: 30 };
      kafka.emit("crash", { error: new Error("crashed") });
      await back(2);
    });
    expect(codes).toEqual(["HIVEPACE_KAFKA_LOST"]);
    expect(kafka.seeks.at(-1)).toBe("20");
  });

  test("closes when its credentials are revoked", async () => {
    const codes = await warnings(async () => {
      kafka.trouble = Object.assign(new Error("no"), { name: "KafkaJSSASLAuthenticationError" });
      kafka.emit("crash", { error: new Error("crashed") });
      await eventually(() => bus.state === "closed", "the bus closes");
    });
    expect(codes).toEqual(["HIVEPACE_KAFKA_REFUSED"]);
    expect(states).toEqual(["interrupted", "closed"]);
  });

  test("close deletes the consumer groups of all links and leaves nothing open", async () => {
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
