import { rateLimitKey } from "@hivepace/namespace";
import fc from "fast-check";
import { expect, test } from "vitest";
import { DOCTORS_ENDPOINT, findEndpoints, nameOf, parseEndpoint } from "./endpoints.ts";
import type { OpenRedis } from "./open-redis.ts";

test.each([
  ["eu", { id: "eu", model: undefined, rpmLimit: undefined, tpmLimit: undefined }],
  ["eu:1000", { id: "eu", model: undefined, rpmLimit: 1_000, tpmLimit: undefined }],
  ["eu::5", { id: "eu", model: undefined, rpmLimit: undefined, tpmLimit: 5 }],
  ["eu/claude-4/x:1:2", { id: "eu", model: "claude-4/x", rpmLimit: 1, tpmLimit: 2 }],
])("%s is an endpoint", (text, endpoint) => {
  expect(parseEndpoint(text)).toEqual(endpoint);
});

test.each(["", ":1:2", "eu:x", "eu:0", "eu:1:2:3", "/m", "eu/"])("%j is not an endpoint", (text) => {
  expect(() => parseEndpoint(text)).toThrowError(/^--endpoint must be id/);
});

/** A Redis that contains only the given keys and returns them in two batches. */
function redisWith(keys: readonly string[]): { redis: OpenRedis; patterns: string[] } {
  const patterns: string[] = [];
  const call = async (_command: string, cursor = "", _match = "", pattern = ""): Promise<unknown> => {
    patterns.push(pattern);
    const half = Math.ceil(keys.length / 2);
    return cursor === "0" ? ["7", keys.slice(0, half)] : ["0", keys.slice(half)];
  };
  const redis = { isCluster: false, call, nodes: () => [{ call }], store: () => Promise.reject(), close: () => {} };
  return { redis, patterns };
}

const never = new AbortController().signal;

test("endpoints and models are recovered from their keys, whatever their names", async () => {
  const name = fc.string({ minLength: 1 }).filter((text) => !/\p{Cs}/u.test(text) && text !== "default");
  await fc.assert(
    fc.asyncProperty(name, fc.option(name, { nil: undefined }), async (id, model) => {
      const { redis } = redisWith([rateLimitKey("prod", id, model)]);
      expect(await findEndpoints(redis, "prod", never)).toMatchObject([{ id, model }]);
    }),
  );
});

test("all batches are read, each name is returned once, and the doctor's endpoint is omitted", async () => {
  const keys = ["b", "a", "b", DOCTORS_ENDPOINT].map((id) => rateLimitKey("prod", id));
  const { redis } = redisWith([...keys, "prod:ratelimit:%zz:x", "prod:ratelimit:a:b:c"]);
  const found = await findEndpoints(redis, "prod", never);
  expect(found.map(nameOf)).toEqual(["a", "b"]);
});

test("a namespace is not interpreted as a pattern", async () => {
  const { redis, patterns } = redisWith([]);
  await findEndpoints(redis, "a*[b]?", never);
  expect(patterns[0]).toBe("a\\*\\[b\\]\\?:ratelimit:*");
});
