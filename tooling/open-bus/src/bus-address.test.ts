import { expect, test } from "vitest";
import { parseBusAddress, shownAddress } from "./bus-address.ts";

test.each([
  ["memory", { kind: "memory", name: "default" }],
  ["memory:swarm 7", { kind: "memory", name: "swarm 7" }],
  ["nats://localhost", { kind: "nats", servers: ["localhost:4222"], url: "nats://localhost" }],
  ["nats://a:1,b:2", { kind: "nats", servers: ["a:1", "b:2"], url: "nats://a:1,b:2" }],
  ["tls://a:1", { kind: "nats", servers: ["a:1"], url: "tls://a:1" }],
  ["nats://me:p%40s/s:w@a", { kind: "nats", servers: ["a:4222"], url: "nats://me:p%40s/s:w@a" }],
  [
    "rediss://me:secret@[::1]:6380/2",
    { kind: "redis", servers: ["[::1]:6380"], url: "rediss://me:secret@[::1]:6380/2" },
  ],
  ["kafka://a,b:9093", { kind: "kafka", servers: ["a:9092", "b:9093"], url: "kafka://a,b:9093" }],
  ["kafka+ssl://me:secret@a", { kind: "kafka", servers: ["a:9092"], url: "kafka+ssl://me:secret@a" }],
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
  "redis://a,b",
  "redis://me:secret@a/x",
])("%j is not an address, and the error states the rule", (text) => {
  expect(() => parseBusAddress(text)).toThrowError(
    expect.objectContaining({ code: "INVALID_CONFIG", option: "bus", rule: expect.any(String) }),
  );
});

test.each(["redis://me:secret@a,b", "redis://me:secret/secret@a/x", "http://me:secret@a", "nats://me:se/c@secret@:"])(
  "no error contains a password: %s",
  (text) => {
    expect(() => parseBusAddress(text)).toThrowError(/^(?!.*secret)/);
    expect(shownAddress(text)).not.toContain("secret");
  },
);

test("an address is shown without user and password", () => {
  expect(shownAddress("redis://me:sec/ret@a:1/0")).toBe("redis://…@a:1/0");
  expect(shownAddress("nats://a:1")).toBe("nats://a:1");
});
