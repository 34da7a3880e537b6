import { describe, expect, test } from "vitest";
import { eachTest } from "../support/each-test.ts";
import { watch } from "../support/hives.ts";

const world = eachTest();

const EU = { id: "eu", rpmLimit: 10, tpmLimit: 1_000 };

describe("alone", () => {
  test("has the whole limit at once, and no more of it in any window", async () => {
    const hive = await world.hives.alone({ endpoints: [EU] });
    for (let i = 0; i < 10; i++) (await hive.acquire({ endpoint: "eu", tokens: 10 })).done();
    const denied = hive.tryAcquire({ endpoint: "eu", tokens: 10 });
    expect(denied).toMatchObject({ allowed: false, endpoint: "eu", reason: "rate" });
    expect(denied.lease).toBeUndefined();
    const waiting = watch(hive.acquire({ endpoint: "eu", tokens: 10 }));
    await world.hives.clock.run(59_000);
    expect(waiting.lease).toBeUndefined();
    await world.hives.clock.run(1_500);
    expect(waiting.lease?.endpoint).toBe("eu");
  });

  test("tokens are limited as requests are, and unused ones are available again", async () => {
    const hive = await world.hives.alone({ endpoints: [EU] });
    const lease = await hive.acquire({ endpoint: "eu", tokens: 900 });
    const waiting = watch(hive.acquire({ endpoint: "eu", tokens: 600 }));
    await world.hives.clock.run(10);
    expect(waiting.lease).toBeUndefined();
    lease.done({ tokens: 300 });
    await world.hives.clock.run(10);
    expect(waiting.lease).toBeDefined();
    expect(hive.tryAcquire({ endpoint: "eu", tokens: 101 }).allowed).toBe(false);
    expect(hive.tryAcquire({ endpoint: "eu", tokens: 100 }).allowed).toBe(true);
  });

  test("a call that was never sent costs nothing: no request, no token, not even of its key", async () => {
    const hive = await world.hives.alone({ endpoints: [EU], keys: { acme: { rpmLimit: 1, tpmLimit: 100 } } });
    for (let i = 0; i < 50; i++) (await hive.acquire({ endpoint: "eu", key: "acme", tokens: 100 })).cancel();
    expect(hive.tryAcquire({ endpoint: "eu", key: "acme", tokens: 100 }).allowed).toBe(true);
    expect(hive.explain("eu").limits.map(({ used }) => used)).toEqual([1, 100]);
  });

  test("a request that can never be granted is refused at once, with the limit", async () => {
    const hive = await world.hives.alone({ endpoints: [EU] });
    const error: unknown = await hive.acquire({ endpoint: "eu", tokens: 1_001 }).catch((e) => e);
    expect(error).toMatchObject({ code: "CAPACITY_EXHAUSTED", reason: "too-large", retryAfterMs: undefined });
    expect(hive.tryAcquire({ endpoint: "eu", tokens: 1_001 })).toMatchObject({ allowed: false, reason: "too-large" });
  });

  test("an endpoint without limits counts calls and admits all", async () => {
    const hive = await world.hives.alone({ endpoints: [{ id: "free" }] });
    for (let i = 0; i < 5_000; i++) expect(hive.tryAcquire({ endpoint: "free", tokens: 1e6 }).allowed).toBe(true);
    expect(hive.explain("free")).toMatchObject({ limits: [], freesInMs: 0, inFlight: 5_000 });
  });

  test("limits of a model, of a pool of models and of all others are independent", async () => {
    const hive = await world.hives.alone({
      endpoints: [
        { id: "eu", rpmLimit: 1 },
        { id: "eu", model: "large", rpmLimit: 2 },
        { id: "eu", models: ["a", "b"], rpmLimit: 3 },
      ],
    });
    const count = (model?: string) => {
      let taken = 0;
      while (hive.tryAcquire({ endpoint: "eu", model, tokens: 1 }).allowed) taken++;
      return taken;
    };
    expect([count("large"), count("other"), count(), count("a"), count("b")]).toEqual([2, 1, 0, 3, 0]);
  });

  test("input and output tokens have separate limits", async () => {
    const hive = await world.hives.alone({ endpoints: [{ id: "eu", inputTpmLimit: 100, outputTpmLimit: 50 }] });
    const ask = (inputTokens: number, outputTokens: number) =>
      hive.tryAcquire({ endpoint: "eu", inputTokens, outputTokens });
    expect(ask(60, 20).allowed).toBe(true);
    expect(ask(50, 10)).toMatchObject({ allowed: false, limitedBy: "endpoint-input-tpm" });
    const lease = ask(40, 30).lease;
    expect(ask(0, 1).allowed).toBe(false);
    lease?.done({ inputTokens: 40, outputTokens: 10 });
    expect(ask(0, 20).allowed).toBe(true);
  });

  test("no more calls are in flight than allowed; waiters are granted as calls end", async () => {
    const hive = await world.hives.alone({ endpoints: [{ id: "eu", maxInFlightPerProcess: 2 }] });
    const [first] = [await hive.acquire({ endpoint: "eu" }), await hive.acquire({ endpoint: "eu" })];
    const waiting = watch(hive.acquire({ endpoint: "eu" }));
    await world.hives.clock.run(100_000);
    expect(waiting.lease).toBeUndefined();
    first.done();
    await world.hives.clock.run(1);
    expect(waiting.lease).toBeDefined();
  });

  test("an unknown endpoint is an error, as is a request without one", async () => {
    const hive = await world.hives.alone({ endpoints: [EU] });
    await expect(hive.acquire({ endpoint: "mars" })).rejects.toMatchObject({ code: "RESOURCE_UNKNOWN" });
    // @ts-expect-error a request needs an endpoint or a route
    await expect(hive.acquire({})).rejects.toMatchObject({ code: "INVALID_CONFIG", option: "endpoint" });
    await expect(hive.acquire({ route: [] })).rejects.toMatchObject({ code: "INVALID_CONFIG", option: "route" });
    await expect(hive.acquire({ endpoint: "eu", tokens: -1 })).rejects.toMatchObject({ option: "tokens" });
    await expect(hive.acquire({ endpoint: "eu", timeoutMs: -1 })).rejects.toMatchObject({ option: "timeoutMs" });
  });
});
