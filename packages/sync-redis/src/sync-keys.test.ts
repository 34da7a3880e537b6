import { expect, test } from "vitest";
import { keySlot } from "./key-slot.ts";
import { SyncKeys } from "./sync-keys.ts";

test.each([
  ["123456789", 12_739],
  ["foo", 12_182],
  ["{user1000}.following", keySlot("user1000")],
  ["foo{}{bar}", 8_363],
  ["foo{{bar}}zap", keySlot("{bar")],
  ["foo{bar}{zap}", keySlot("bar")],
  ["", 0],
])("the slot of %j is %i, as Redis has it", (key, slot) => {
  expect(keySlot(key)).toBe(slot);
});

test("an endpoint's key is the seed's, another kind has a place of its own", () => {
  const keys = new SyncKeys("prod", "");
  expect(keys.of({ kind: "endpoint", id: "eu", model: "claude" }).key).toBe("prod:ratelimit:eu:claude");
  expect(keys.of({ kind: "endpoint", id: "eu" }).key).toBe("prod:ratelimit:eu:default");
  expect(keys.of({ kind: "key", id: "a:ratelimit:b" }).key).toBe("prod:ratelimit-key:a%3Aratelimit%3Ab:default");
  expect(new SyncKeys(":ratelimit:", "").of({ kind: "key", id: "a" }).key).toBe(
    "%3Aratelimit%3A:ratelimit-key:a:default",
  );
});

test("the prefix of a client counts for the slot and not for the key", () => {
  const name = { kind: "endpoint", id: "eu" };
  const { key, slot } = new SyncKeys("prod", "mine:").of(name);
  expect([key, slot]).toEqual(["prod:ratelimit:eu:default", keySlot("mine:prod:ratelimit:eu:default")]);
});

test("a name is worked out once", () => {
  const keys = new SyncKeys("prod", "");
  const name = { kind: "endpoint", id: "eu" };
  expect(keys.of(name)).toBe(keys.of(name));
});

test.each([
  ["kind", { kind: "Endpoint", id: "eu" }],
  ["kind", { kind: "a:b", id: "eu" }],
  ["endpoint", { kind: "endpoint", id: "" }],
])("an invalid %s is refused by name", (option, name) => {
  expect(() => new SyncKeys("prod", "").of(name)).toThrow(expect.objectContaining({ code: "INVALID_CONFIG", option }));
});
