import { expect, test } from "vitest";
import { type NatsBusOptions, type NatsOptions, natsBus } from "./nats-bus.ts";

// biome-ignore format: a table
test.each<[string, Record<string, unknown>]>([
  ["servers", {}], ["servers", { servers: "" }], ["servers", { servers: [] }], ["servers", { servers: ["a", 7] }],
  ["noEcho", { servers: "a", noEcho: true }],
  ["nkey", { servers: "a", nkey: "UA" }],
  ["waitForBroker", { servers: "a", waitForBroker: "yes" }],
  ["connectTimeoutMs", { servers: "a", connectTimeoutMs: 0 }],
])("an invalid option is rejected with an error that names the option: %s %j", async (option, options) => {
  await expect(natsBus(options as NatsOptions)).rejects.toMatchObject({ code: "INVALID_CONFIG", option });
});

test("no error contains the seed of an NKEY", async () => {
  await expect(natsBus({ servers: "a", nkey: "secret" })).rejects.toThrow(/^(?!.*"secret")/);
});

test("options that accompany a lent connection are checked too", async () => {
  const connection = { subscribe() {}, flush() {} } as never;
  const options: NatsBusOptions = { connectTimeoutMs: -1 };
  await expect(natsBus(connection, options)).rejects.toMatchObject({ code: "INVALID_CONFIG" });
});
