import { expect, test } from "vitest";
import { type RedisPubSubOptions, redisPubSubBus } from "./index.ts";

test.each([
  ["waitForBroker", { waitForBroker: "yes" }],
  ["connectTimeoutMs", { connectTimeoutMs: 0 }],
  ["pingIntervalMs", { pingIntervalMs: Number.NaN }],
  ["publishTimeoutMs", { publishTimeoutMs: -1 }],
  ["closeTimeoutMs", { closeTimeoutMs: "1s" }],
  ["url", { url: "localhost:6379" }],
  ["url", { url: 6379 }],
  ["url and host", { url: "redis://localhost", host: "localhost" }],
  ["sentinels and cluster", { sentinels: [{}], cluster: { nodes: [{}] } }],
  ["sentinels", { sentinels: [], name: "hive" }],
  ["name", { sentinels: [{ port: 26379 }] }],
  ["cluster.nodes", { cluster: { nodes: [] } }],
  ["cluster.nodes", { cluster: {} }],
])("an invalid %s is rejected with an error that names the option: %j", async (option, options) => {
  const refusal = redisPubSubBus(options as RedisPubSubOptions);
  await expect(refusal).rejects.toMatchObject({ code: "INVALID_CONFIG", option });
});

test("a value that is neither a client nor options is rejected", async () => {
  const source = "redis://localhost" as unknown as RedisPubSubOptions;
  await expect(redisPubSubBus(source)).rejects.toMatchObject({ code: "INVALID_CONFIG", option: "source" });
});

test("an error does not show the password of a url", async () => {
  const refusal = redisPubSubBus({ url: "user:secret@localhost" });
  await expect(refusal).rejects.toThrow(expect.objectContaining({ message: expect.not.stringContaining("secret") }));
});
