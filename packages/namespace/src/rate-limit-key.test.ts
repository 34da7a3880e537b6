import fc from "fast-check";
import { expect, test } from "vitest";
import { rateLimitKey, swarmKey } from "./rate-limit-key.ts";

test.each([
  [["prod", "anthropic-primary", "claude-4"], "prod:ratelimit:anthropic-primary:claude-4"],
  [["prod", "anthropic-primary"], "prod:ratelimit:anthropic-primary:default"],
  [["prod", "eu.west/1", "gpt@5"], "prod:ratelimit:eu.west/1:gpt@5"],
  [["a:b", "c", "d"], "a%3Ab:ratelimit:c:d"],
  [["a", "{tag}", "50%"], "a:ratelimit:%7Btag%7D:50%25"],
  [["日本", "a b", "x\ny"], "日本:ratelimit:a%20b:x%0Ay"],
] as const)("%j has the key %s", (ids, key) => {
  expect(rateLimitKey(...(ids as readonly string[] as [string, string, string?]))).toBe(key);
});

const id = fc.oneof(
  fc.string({ minLength: 1, unit: fc.constantFrom("a", ":", "%", "3", "A", "{", "}", "ratelimit") }),
  fc.string({ minLength: 1, unit: "binary" }).filter((text) => !/\p{Cs}/u.test(text)),
);

test("different ids have different keys, and no id affects another part of its key", () => {
  fc.assert(
    fc.property(fc.tuple(id, id, id), fc.tuple(id, id, id), (one, other) => {
      const same = one.every((part, i) => part === other[i]);
      expect(rateLimitKey(...one) === rateLimitKey(...other)).toBe(same);
      expect(rateLimitKey(...one).split(":")).toHaveLength(4);
      expect(rateLimitKey(...one)).not.toMatch(/[{}\s]/);
    }),
  );
});

test.each([
  ["namespace", ["", "e", "m"]],
  ["endpoint", ["n", "", "m"]],
  ["model", ["n", "e", ""]],
  ["endpoint", ["n", "\ud800", "m"]],
  ["endpoint", ["n", 7 as unknown as string, "m"]],
] as const)("an invalid %s is rejected with an error that names the option", (option, ids) => {
  expect(() => rateLimitKey(...(ids as [string, string, string]))).toThrowError(
    expect.objectContaining({ code: "INVALID_CONFIG", option }),
  );
});

test.each([
  [["prod", "eu/claude"], "prod:swarm:{eu/claude}"],
  [["a:b", "{x} y"], "a%3Ab:swarm:{%7Bx%7D%20y}"],
] as const)("the pool %j has the key %s with its own hash tag", ([namespace, pool], key) => {
  expect(swarmKey(namespace, pool)).toBe(key);
  expect(() => swarmKey(namespace, "")).toThrowError(expect.objectContaining({ option: "pool" }));
});
