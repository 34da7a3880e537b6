import { afterEach, beforeEach, expect, test } from "vitest";
import { TestHives } from "./support/hives.ts";

let hives: TestHives;
beforeEach(() => {
  hives = new TestHives();
});
afterEach(() => hives.close());

const MISSING = { code: "INVALID_CONFIG", option: "tokens" };

test("a request without tokens is an error where an endpoint of it limits tokens, in all or in parts", async () => {
  const hive = await hives.alone({
    endpoints: [
      { id: "all", tpmLimit: 100 },
      { id: "input", inputTpmLimit: 100 },
      { id: "output", outputTpmLimit: 100 },
      { id: "requests", rpmLimit: 100 },
      { id: "models" },
      { id: "models", model: "large", tpmLimit: 100 },
    ],
  });
  for (const request of [
    { endpoint: "all" },
    { endpoint: "input" },
    { endpoint: "output" },
    { route: ["requests", "all"] },
    { endpoint: "models", model: "large" },
  ]) {
    await expect(hive.acquire(request)).rejects.toMatchObject(MISSING);
    expect(() => hive.tryAcquire(request)).toThrow(expect.objectContaining(MISSING));
  }
  for (const request of [
    { endpoint: "requests" },
    { endpoint: "models" },
    { endpoint: "all", tokens: 0 },
    { endpoint: "all", inputTokens: 5 },
    { endpoint: "output", outputTokens: 5 },
  ])
    expect(hive.tryAcquire(request).allowed).toBe(true);
});

test("a request without tokens is an error where its key limits tokens", async () => {
  const hive = await hives.alone({
    endpoints: [{ id: "eu" }],
    keys: { acme: { tpmLimit: 100 }, free: { rpmLimit: 10 } },
    limitsForKey: (key) => (key === "other" ? { tpmLimit: 10 } : undefined),
  });
  for (const key of ["acme", "other"])
    await expect(hive.acquire({ endpoint: "eu", key })).rejects.toMatchObject(MISSING);
  for (const key of ["free", "unknown"]) expect(hive.tryAcquire({ endpoint: "eu", key }).allowed).toBe(true);
});

test("where a token limit was only learned, the mean of earlier calls counts", async () => {
  const hive = await hives.alone({ endpoints: [{ id: "eu" }] });
  (await hive.acquire({ endpoint: "eu" })).done({ tokens: 300 });
  hive.observe({ endpoint: "eu", limits: { tokens: { limit: 1_000, remaining: 700 } } });
  expect(hive.tryAcquire({ endpoint: "eu" }).allowed).toBe(true);
  expect(hive.tryAcquire({ endpoint: "eu" }).allowed).toBe(true);
  expect(hive.tryAcquire({ endpoint: "eu" })).toMatchObject({ allowed: false, limitedBy: "swarm-tpm" });
});
