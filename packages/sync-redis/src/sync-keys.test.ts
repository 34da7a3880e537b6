import { keySlot } from "@hivepace/redis-client";
import { expect, test } from "vitest";
import { SyncKeys } from "./sync-keys.ts";

test.each([
  ["123456789", 12_739],
  ["foo", 12_182],
  ["{user1000}.following", keySlot("user1000")],
  ["foo{}{bar}", 8_363],
  ["foo{{bar}}zap", keySlot("{bar")],
  ["foo{bar}{zap}", keySlot("bar")],
  ["", 0],
])("the slot of %j is %i, as in Redis", (key, slot) => {
  expect(keySlot(key)).toBe(slot);
});

test("the key of an endpoint has the documented form, and other kinds have separate keys", () => {
  const keys = new SyncKeys("prod", "");
  expect(keys.of({ kind: "endpoint", id: "eu", model: "claude" }).key).toBe("prod:ratelimit:eu:claude");
  expect(keys.of({ kind: "endpoint", id: "eu" }).key).toBe("prod:ratelimit:eu:default");
  expect(keys.of({ kind: "key", id: "a:ratelimit:b" }).key).toBe("prod:ratelimit-key:a%3Aratelimit%3Ab:default");
  expect(new SyncKeys(":ratelimit:", "").of({ kind: "key", id: "a" }).key).toBe(
    "%3Aratelimit%3A:ratelimit-key:a:default",
  );
});

test("the key prefix of a client affects the slot but not the key", () => {
  const name = { kind: "endpoint", id: "eu" };
  const { key, slot } = new SyncKeys("prod", "mine:").of(name);
  expect([key, slot]).toEqual(["prod:ratelimit:eu:default", keySlot("mine:prod:ratelimit:eu:default")]);
});

test("the key of a name is computed once", () => {
  const keys = new SyncKeys("prod", "");
  const name = { kind: "endpoint", id: "eu" };
  expect(keys.of(name)).toBe(keys.of(name));
});

test.each([
  ["kind", { kind: "Endpoint", id: "eu" }],
  ["kind", { kind: "a:b", id: "eu" }],
  ["endpoint", { kind: "endpoint", id: "" }],
])("an invalid %s is rejected with an error that names the option", (option, name) => {
  expect(() => new SyncKeys("prod", "").of(name)).toThrow(expect.objectContaining({ code: "INVALID_CONFIG", option }));
});
