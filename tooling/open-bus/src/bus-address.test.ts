import { expect, test } from "vitest";
import { parseBusAddress, shownAddress } from "./bus-address.ts";

test.each([
  ["memory", { kind: "memory", name: "default" }],
  ["memory:swarm 7", { kind: "memory", name: "swarm 7" }],
  ["nats://localhost", { kind: "nats", servers: ["nats://localhost:4222"] }],
  ["nats://a:1,b:2", { kind: "nats", servers: ["nats://a:1", "nats://b:2"] }],
  ["tls://a:1", { kind: "nats", servers: ["tls://a:1"] }],
  ["nats://token@a:1", { kind: "nats", servers: ["nats://a:1"], token: "token" }],
  ["nats://me:p%40ss:w@a", { kind: "nats", servers: ["nats://a:4222"], user: "me", pass: "p@ss:w" }],
  ["redis://localhost", { kind: "redis", url: "redis://localhost" }],
  ["rediss://me:secret@[::1]:6380/2", { kind: "redis", url: "rediss://me:secret@[::1]:6380/2" }],
  ["kafka://a,b:9093", { kind: "kafka", brokers: ["a:9092", "b:9093"] }],
])("%s is an address", (text, address) => {
  expect(parseBusAddress(text)).toEqual(address);
});

test.each([
  "",
  "nats",
  "memory:",
  "http://localhost",
  "constructor://a",
  "nats:localhost",
  "nats://",
  "nats://a:0",
  "nats://a:65536",
  "nats://a:b",
  "nats://a,,b",
  "nats://%:x@a",
  "redis://a,b",
  "kafka://me:secret@a",
])("%j is none, and the error says what one is", (text) => {
  expect(() => parseBusAddress(text)).toThrowError(
    expect.objectContaining({ code: "INVALID_CONFIG", option: "bus", rule: expect.any(String) }),
  );
});

test("a password is in no error and in nothing that is shown", () => {
  expect(() => parseBusAddress("kafka://me:secret@a")).toThrowError(/^(?!.*secret).*kafka:\/\/…@a/);
  expect(shownAddress("redis://me:secret@a:1/0")).toBe("redis://…@a:1/0");
  expect(shownAddress("nats://a:1")).toBe("nats://a:1");
});
