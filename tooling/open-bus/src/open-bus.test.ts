import { until } from "@hivepace/test-kit";
import { expect, test } from "vitest";
import { openBus } from "./open-bus.ts";

const missing = (name: string): Error =>
  Object.assign(new Error(`Cannot find package '${name}' imported from here`), { code: "ERR_MODULE_NOT_FOUND" });

test("memory buses exchange messages if and only if they have the same name", async () => {
  const [one, same, other] = await Promise.all(["memory:a", "memory:a", "memory:b"].map((address) => openBus(address)));
  const heard: string[] = [];
  await same?.subscribe("s", () => heard.push("same"));
  await other?.subscribe("s", () => heard.push("other"));
  await one?.publish("s", new Uint8Array([1]));
  await until(() => heard.length > 0, "the message has come");
  expect(heard).toEqual(["same"]);
  await Promise.all([one, same, other].map((bus) => bus?.close()));
});

test.each([
  ["nats://a", "npm install @hivepace/bus-nats @nats-io/transport-node"],
  ["redis://a", "npm install @hivepace/bus-redis-pubsub ioredis"],
  ["kafka://a", "npm install @hivepace/bus-kafka kafkajs"],
])("without the adapter the error for %s is one sentence with the install command", async (address, line) => {
  const load = (name: string) => Promise.reject(missing(name));
  const opened = openBus(address, { load });
  await expect(opened).rejects.toMatchObject({ code: "BUS_UNAVAILABLE", message: expect.stringMatching(`${line}$`) });
});

test("an error inside an adapter is passed on unchanged", async () => {
  const load = () => Promise.reject(missing("something-else"));
  await expect(openBus("nats://a", { load })).rejects.toThrow("something-else");
});

test("an invalid address loads no adapter", async () => {
  const load = () => Promise.reject(new Error("loaded"));
  await expect(openBus("http://a", { load })).rejects.toMatchObject({ code: "INVALID_CONFIG" });
});
