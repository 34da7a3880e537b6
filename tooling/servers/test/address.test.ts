import { expect, test } from "vitest";
import { givenAddress } from "../src/address.ts";

test.each([
  ["redis", { REDIS_URL: "redis://:secret@db.test:6380/2" }, { host: "db.test", port: 6380, tls: false }],
  ["redis", { REDIS_URL: "rediss://db.test" }, { host: "db.test", port: 6379, tls: true }],
  ["nats", { NATS_URL: "nats://127.0.0.1" }, { host: "127.0.0.1", port: 4222, tls: false }],
  ["nats", { NATS_URL: "bus.test:5222" }, { host: "bus.test", port: 5222, tls: false }],
  ["kafka", { KAFKA_BROKERS: "a.test:9093, b.test:9094" }, { host: "a.test", port: 9093, tls: false }],
  ["kafka", { KAFKA_BROKERS: "[::1]:9093" }, { host: "::1", port: 9093, tls: false }],
] as const)("%s is found at %o", (kind, env, expected) => {
  expect(givenAddress(kind, env)).toMatchObject({ ...expected, url: Object.values(env)[0] });
});

test("an empty variable names no server", () => {
  expect(givenAddress("redis", { REDIS_URL: " " })).toBeUndefined();
  expect(givenAddress("redis", {})).toBeUndefined();
});

test("an invalid address is an error that names the variable", () => {
  expect(() => givenAddress("redis", { REDIS_URL: "redis://" })).toThrow(/^REDIS_URL must be an address/);
});
