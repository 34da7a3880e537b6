import { Kafka, logLevel } from "kafkajs";
import { expect, test } from "vitest";
import { kafkaMock } from "../src/recipes/kafka.ts";
import { type Server, startProgram } from "../src/server.ts";
import { describeOwnServer, describeServer } from "../src/vitest.ts";

async function roundTrip({ url }: Server): Promise<string | undefined> {
  const kafka = new Kafka({
    brokers: url.split(","),
    logLevel: logLevel.NOTHING,
    retry: { retries: 20, maxRetryTime: 1_000 },
  });
  const name = `hivepace-test-${process.pid}-${Date.now()}`;
  const producer = kafka.producer();
  const consumer = kafka.consumer({ groupId: name });
  try {
    await producer.connect();
    await producer.send({ topic: name, messages: [{ value: "hello" }] });
    await consumer.connect();
    await consumer.subscribe({ topic: name, fromBeginning: true });
    return await new Promise((resolve, reject) => {
      consumer.run({ eachMessage: async ({ message }) => resolve(message.value?.toString()) }).catch(reject);
    });
  } finally {
    await Promise.all([consumer.disconnect(), producer.disconnect()]);
  }
}

describeServer("kafka", (server) => {
  test("a produced message can be consumed", async () => {
    expect(await roundTrip(server())).toBe("hello");
  });
});

describeOwnServer("kafka", (server) => {
  test("a killed broker comes back on its port with its topics", async () => {
    const { port } = server();
    const admin = new Kafka({ brokers: [server().url], logLevel: logLevel.NOTHING }).admin();
    await admin.createTopics({ topics: [{ topic: "kept" }] });
    await server().kill();
    await server().start();
    expect(server().port).toBe(port);
    await admin.connect();
    expect(await admin.listTopics()).toContain("kept");
    await admin.disconnect();
    expect(await roundTrip(server())).toBe("hello");
  });
});

test("the mock cluster supports produce and consume, and names its limitations", async ({ skip }) => {
  const program = await kafkaMock().catch((error: Error) => skip(error.message));
  await using server = await startProgram("kafka", { origin: "mock", value: program, missed: [] }, {});
  expect(server.limits).toContain("no createTopics");
  expect(await roundTrip(server)).toBe("hello");
});
