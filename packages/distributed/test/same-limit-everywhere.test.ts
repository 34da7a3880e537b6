import { seededRandom } from "@hivepace/core/testing";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Hive, HiveRequest } from "../src/index.ts";
import { TestHives, watch } from "./support/hives.ts";

let hives: TestHives;
beforeEach(() => {
  hives = new TestHives();
});
afterEach(() => hives.close());

const EU = { id: "eu", rpmLimit: 10, tpmLimit: 1_000 };

/** Checks that a denied request is granted exactly after its `retryAfterMs`, and returns that time. */
async function expectGrantedThen(hive: Hive, request: HiveRequest): Promise<number> {
  const { allowed, retryAfterMs } = hive.tryAcquire(request);
  expect(allowed).toBe(false);
  expect(retryAfterMs).toBeGreaterThan(0);
  await hives.clock.run((retryAfterMs as number) - 1);
  const early = hive.tryAcquire(request);
  expect(early.allowed).toBe(false);
  expect(early.retryAfterMs).toBe(1);
  await hives.clock.run(1);
  const { allowed: isGranted, lease } = hive.tryAcquire(request);
  expect(isGranted).toBe(true);
  lease?.done();
  return retryAfterMs as number;
}

describe("retryAfterMs is when a retry is granted", () => {
  test("where the window of this process ends before the one that slides", async () => {
    const hive = await hives.alone({ endpoints: [EU] });
    await hives.clock.run(40_000);
    for (let i = 0; i < 10; i++) (await hive.acquire({ endpoint: "eu", tokens: 10 })).done();
    await hives.clock.run(5_000);
    expect(await expectGrantedThen(hive, { endpoint: "eu", tokens: 10 })).toBeGreaterThan(54_000);
  });

  test("for tokens that leave the window bit by bit", async () => {
    const hive = await hives.alone({ endpoints: [EU] });
    for (let i = 0; i < 9; i++) {
      (await hive.acquire({ endpoint: "eu", tokens: 100 })).done();
      await hives.clock.run(3_000);
    }
    await expectGrantedThen(hive, { endpoint: "eu", tokens: 450 });
  });

  test("with calls of random sizes at random times", async () => {
    const random = seededRandom(7);
    const hive = await hives.alone({ endpoints: [{ id: "eu", rpmLimit: 8, tpmLimit: 1_000 }] });
    let denials = 0;
    for (let i = 0; i < 300; i++) {
      const request = { endpoint: "eu", tokens: 1 + Math.floor(random() * 400) };
      const { lease } = hive.tryAcquire(request);
      if (lease) lease.done({ tokens: Math.ceil(request.tokens * (0.5 + random())) });
      else {
        denials++;
        await expectGrantedThen(hive, request);
      }
      await hives.clock.run(random() * 4_000);
    }
    expect(denials).toBeGreaterThan(50);
  });

  test("about when a retry is granted during the climb from a measured cut", async () => {
    const hive = await hives.alone({ endpoints: [EU] });
    (await hive.acquire({ endpoint: "eu", tokens: 10 })).refused({ reason: "429", retryAfterMs: 20_000 });
    const told = hive.tryAcquire({ endpoint: "eu", tokens: 900 }).retryAfterMs as number;
    let grantedMs = 0;
    for (; !hive.tryAcquire({ endpoint: "eu", tokens: 900 }).allowed; grantedMs += 100) await hives.clock.run(100);
    expect(told).toBeGreaterThan(20_000);
    expect(Math.abs(told - grantedMs)).toBeLessThanOrEqual(500);
  });

  test("in a pause, and while the limit is cut", async () => {
    const hive = await hives.alone({ endpoints: [EU], recovery: "stepped" });
    (await hive.acquire({ endpoint: "eu", tokens: 10 })).refused({ reason: "429", retryAfterMs: 20_000 });
    expect(await expectGrantedThen(hive, { endpoint: "eu", tokens: 400 })).toBe(20_000);
    // The request exceeds the reduced limit, which has to recover first.
    expect(await expectGrantedThen(hive, { endpoint: "eu", tokens: 900 })).toBeGreaterThan(60_000);
  });

  test("with a limit of a key beside that of the endpoint", async () => {
    const hive = await hives.alone({ endpoints: [EU], keys: { acme: { rpmLimit: 1 } } });
    (await hive.acquire({ endpoint: "eu", key: "acme", tokens: 1 })).done();
    await expectGrantedThen(hive, { endpoint: "eu", key: "acme", tokens: 1 });
  });

  test("of the candidate that frees first, for a route", async () => {
    const hive = await hives.alone({ endpoints: [EU, { id: "us", rpmLimit: 10 }] });
    for (let i = 0; i < 10; i++) (await hive.acquire({ endpoint: "us", tokens: 1 })).done();
    await hives.clock.run(20_000);
    for (let i = 0; i < 10; i++) (await hive.acquire({ endpoint: "eu", tokens: 1 })).done();
    expect(await expectGrantedThen(hive, { route: ["eu", "us"], tokens: 1 })).toBeLessThan(41_000);
  });

  test("behind waiters: after them", async () => {
    const hive = await hives.alone({ endpoints: [EU], maxQueue: 5 });
    for (let i = 0; i < 10; i++) (await hive.acquire({ endpoint: "eu", tokens: 1 })).done();
    for (let i = 0; i < 5; i++) watch(hive.acquire({ endpoint: "eu", tokens: 200 }));
    await hives.clock.run(10);
    const { retryAfterMs = 0 } = hive.tryAcquire({ endpoint: "eu", tokens: 200 });
    expect(retryAfterMs).toBeGreaterThan(100_000);
    const full = await hive.acquire({ endpoint: "eu", tokens: 200 }).catch((error: unknown) => error);
    expect(full).toMatchObject({ reason: "queue-full", retryAfterMs });
  });
});

describe("decision, explanation and error name the same limit", () => {
  const CASES: readonly (readonly [
    name: string,
    options: object,
    fill: (hive: Hive) => Promise<unknown>,
    says: RegExp,
  ])[] = [
    [
      "requests",
      { endpoints: [{ id: "eu", rpmLimit: 1 }] },
      (hive) => hive.acquire({ endpoint: "eu", tokens: 1 }),
      /may have room in \d+ ms: endpoint-rpm/,
    ],
    [
      "calls in flight",
      { endpoints: [{ id: "eu", maxInFlightPerProcess: 1 }] },
      (hive) => hive.acquire({ endpoint: "eu", tokens: 1 }),
      /no room until a call ends: endpoint-in-flight, 1 are in flight/,
    ],
    [
      "no requests at all",
      { endpoints: [{ id: "eu", rpmLimit: 0 }] },
      async () => {},
      /lets nothing through: endpoint-rpm is 0/,
    ],
    [
      "no tokens at all",
      { endpoints: [{ id: "eu", tpmLimit: 0 }] },
      async () => {},
      /lets nothing through: endpoint-tpm is 0/,
    ],
    [
      "no output tokens at all",
      { endpoints: [{ id: "eu", rpmLimit: 10, outputTpmLimit: 0 }] },
      async () => {},
      /lets nothing through: endpoint-output-tpm is 0/,
    ],
    [
      "no calls in flight at all",
      { endpoints: [{ id: "eu", maxInFlightPerProcess: 0 }] },
      async () => {},
      /lets nothing through: endpoint-in-flight is 0/,
    ],
    [
      "a learned limit",
      { endpoints: [{ id: "eu" }] },
      async (hive) =>
        hive.observe({ endpoint: "eu", limits: { requests: { limit: 100, remaining: 0, windowMs: 3_600_000 } } }),
      /may have room in \d+ ms: swarm-rpm/,
    ],
    [
      "a pause",
      { endpoints: [EU] },
      async (hive) => hive.announceReduced("eu", "429", { retryAfterMs: 90_000 }),
      /may have room in 90000 ms: swarm-pause/,
    ],
  ];
  for (const [name, options, fill, says] of CASES)
    test(name, async () => {
      const hive = await hives.alone(options as Parameters<TestHives["alone"]>[0]);
      await fill(hive);
      const request = { endpoint: "eu", tokens: 1, inputTokens: 1, outputTokens: 1 };
      const decision = hive.tryAcquire(request);
      const explanation = hive.explain("eu");
      expect(decision.allowed).toBe(false);
      expect(explanation.text).toMatch(says);
      expect(explanation.text).not.toContain("has room now");
      expect(explanation.text).not.toContain("no limits that this agent knows of");
      expect(explanation.limitedBy).toBe(decision.limitedBy);
      expect(explanation.freesInMs).toBe(decision.retryAfterMs ?? Infinity);
      const error = await hive.acquire({ ...request, timeoutMs: 0 }).catch((thrown: unknown) => thrown as Error);
      expect((error as Error).message).toContain(decision.limitedBy);
    });

  test("behind an own claim that does not cover the request", async () => {
    const endpoints = [{ id: "eu", rpmLimit: 2, inputTpmLimit: 100, outputTpmLimit: 100 }];
    const [hive] = (await hives.swarm(2, { endpoints })) as [Hive, Hive];
    hive.announceReduced("eu", "429");
    // A denied request without tokens opens a claim of one request and no tokens.
    expect(hive.tryAcquire({ endpoint: "eu", tokens: 0 }).allowed).toBe(false);
    await hives.clock.run(900);
    const explanation = hive.explain("eu");
    const decision = hive.tryAcquire({ endpoint: "eu", tokens: 1, inputTokens: 1, outputTokens: 1 });
    expect(decision.allowed).toBe(false);
    expect(explanation.limitedBy).toBe(decision.limitedBy);
    expect(explanation.freesInMs).toBe(decision.retryAfterMs);
    expect(explanation.text).not.toContain("has room now");
  });

  test("an endpoint with capacity says so, and names no limit", async () => {
    const hive = await hives.alone({ endpoints: [EU] });
    expect(hive.explain("eu")).toMatchObject({ freesInMs: 0, limitedBy: undefined });
    expect(hive.explain("eu").text).toContain("has room now");
  });
});

describe("an observation with an invalid window", () => {
  for (const windowMs of [0, -1, Number.NaN, Infinity])
    test(`of ${windowMs} ms teaches nothing`, async () => {
      const hive = await hives.alone({ endpoints: [EU] });
      hive.observe({ endpoint: "eu", limits: { input_tokens: { limit: 10, remaining: 5, windowMs } } });
      hive.observe({ endpoint: "eu", limits: { requests: { limit: 10, remaining: 0, windowMs } } });
      await hives.clock.run(10);
      expect(hive.explain("eu").limits.map(({ dimension, used }) => [dimension, used])).toEqual([
        ["requests", 0],
        ["tokens", 0],
      ]);
      expect((await hive.acquire({ endpoint: "eu", tokens: 1 })).endpoint).toBe("eu");
    });
});
