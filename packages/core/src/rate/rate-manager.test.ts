import { describe, expect, test } from "vitest";
import { KINDS, MINUTE, START, thrown } from "./test-managers.ts";

describe.each(KINDS)("rate manager, %s", (_, open) => {
  test("a decision always has all fields", () => {
    const { manager } = open();
    manager.setEndpoint({ id: "eu", rpmLimit: 10, tpmLimit: 1000 });
    expect(manager.check({ endpoint: "eu", tokens: 250 })).toEqual({
      allowed: true,
      currentTpm: 250,
      limitTpm: 1000,
      currentRpm: 1,
      limitRpm: 10,
      utilization: 0.25,
      windowStart: START - MINUTE / 2,
      retryAfterMs: undefined,
      limitedBy: undefined,
      reason: undefined,
    });
    const denied = manager.check({ endpoint: "eu", tokens: 800 });
    expect(denied).toEqual({
      allowed: false,
      currentTpm: 250,
      limitTpm: 1000,
      currentRpm: 1,
      limitRpm: 10,
      utilization: 0.25,
      windowStart: START - MINUTE / 2,
      retryAfterMs: MINUTE / 2,
      limitedBy: "endpoint-tpm",
      reason: "rate",
    });
    expect(Object.keys(denied)).toHaveLength(10);
  });

  test("requests and tokens are limited per window", () => {
    const { manager, clock } = open();
    manager.setEndpoint({ id: "eu", rpmLimit: 2, tpmLimit: 1000 });
    const ask = (tokens: number) => manager.check({ endpoint: "eu", tokens });
    expect([ask(1), ask(1)].map((d) => d.allowed)).toEqual([true, true]);
    const denied = ask(1);
    expect(denied).toMatchObject({ allowed: false, limitedBy: "endpoint-rpm", retryAfterMs: MINUTE / 2 });
    clock.advance(MINUTE / 2 - 1);
    expect(ask(1).allowed).toBe(false);
    clock.advance(1);
    expect(ask(1000)).toMatchObject({ allowed: true, currentRpm: 1, windowStart: START + MINUTE / 2 });
    expect(ask(1)).toMatchObject({ allowed: false, limitedBy: "endpoint-tpm" });
  });

  test("the key's limits are checked before the endpoint's and named in the denial", () => {
    const { manager } = open();
    manager.setEndpoint({ id: "eu", rpmLimit: 1, tpmLimit: 100 });
    manager.setKey("acme", { rpmLimit: 1, tpmLimit: 50 });
    expect(manager.check({ endpoint: "eu", key: "acme", tokens: 51 })).toMatchObject({
      limitedBy: "key-tpm",
      limitTpm: 50,
      reason: "too-large",
    });
    expect(manager.check({ endpoint: "eu", key: "acme", tokens: 40 }).allowed).toBe(true);
    expect(manager.check({ endpoint: "eu", key: "acme", tokens: 1 })).toMatchObject({
      limitedBy: "key-rpm",
      currentTpm: 40,
      limitTpm: 50,
      currentRpm: 1,
      limitRpm: 1,
      utilization: 1,
    });
  });

  test("after a denial no charge remains, neither on the key nor on the endpoint", () => {
    const { manager } = open();
    manager.setEndpoint({ id: "eu", rpmLimit: 10, tpmLimit: 100, inputTpmLimit: 50, maxInFlightPerProcess: 2 });
    manager.setKey("acme", { rpmLimit: 10, tpmLimit: 1000 });
    const ask = (tokens: number, inputTokens: number) =>
      manager.check({ endpoint: "eu", key: "acme", tokens, inputTokens });
    expect(ask(60, 10).allowed).toBe(true);
    const before = manager.snapshot();
    expect(ask(50, 1).limitedBy).toBe("endpoint-tpm");
    expect(ask(40, 41).limitedBy).toBe("endpoint-input-tpm");
    expect(manager.snapshot()).toEqual(before);
    expect(ask(1, 1).allowed).toBe(true);
    const full = manager.snapshot();
    expect(ask(1, 1).limitedBy).toBe("endpoint-in-flight");
    expect(manager.snapshot()).toEqual(full);
  });

  test("peek returns the decision of check and counts nothing", () => {
    const { manager } = open();
    manager.setEndpoint({ id: "eu", rpmLimit: 1, tpmLimit: 100 });
    const before = manager.snapshot();
    expect(manager.peek({ endpoint: "eu", tokens: 100 })).toMatchObject({ allowed: true, currentTpm: 0 });
    expect(manager.snapshot()).toEqual(before);
    manager.check({ endpoint: "eu", tokens: 10 });
    expect(manager.peek({ endpoint: "eu", tokens: 1 })).toMatchObject({ allowed: false, limitedBy: "endpoint-rpm" });
  });

  test("a request that no window can hold is too large and has no retryAfterMs", () => {
    const { manager } = open();
    manager.setEndpoint({ id: "eu", rpmLimit: 10, tpmLimit: 100 });
    manager.setEndpoint({ id: "none", rpmLimit: 0 });
    const never = { allowed: false, reason: "too-large", retryAfterMs: undefined };
    expect(manager.check({ endpoint: "eu", tokens: 101 })).toMatchObject({ ...never, limitedBy: "endpoint-tpm" });
    expect(manager.check({ endpoint: "none", tokens: 0 })).toMatchObject({
      ...never,
      limitedBy: "endpoint-rpm",
      utilization: 1,
    });
    manager.setKey("full", { rpmLimit: 0 });
    expect(manager.check({ endpoint: "eu", key: "full", tokens: 1 })).toMatchObject({ ...never, limitedBy: "key-rpm" });
    // The limit that makes the request impossible is named, even when another one would only delay it.
    manager.setKey("used", { rpmLimit: 1 });
    manager.check({ endpoint: "eu", key: "used", tokens: 1 });
    expect(manager.check({ endpoint: "eu", key: "used", tokens: 101 })).toMatchObject({
      ...never,
      limitedBy: "endpoint-tpm",
    });
    manager.setEndpoint({ id: "shut", maxInFlightPerProcess: 0 });
    expect(manager.check({ endpoint: "shut", tokens: 1 })).toMatchObject({ ...never, limitedBy: "endpoint-in-flight" });
  });

  test("an absent limit does not limit", () => {
    const { manager } = open();
    manager.setEndpoint({ id: "eu", tpmLimit: 10 });
    manager.setEndpoint({ id: "us" });
    for (let i = 0; i < 100; i++) expect(manager.check({ endpoint: "us", tokens: 1e6 }).allowed).toBe(true);
    for (let i = 0; i < 10; i++) expect(manager.check({ endpoint: "eu", tokens: 1 }).allowed).toBe(true);
    expect(manager.check({ endpoint: "eu", tokens: 1 })).toMatchObject({
      limitedBy: "endpoint-tpm",
      limitRpm: Infinity,
    });
    expect(manager.peek({ endpoint: "us", tokens: 1 })).toMatchObject({
      limitTpm: Infinity,
      utilization: 0,
      currentTpm: 1e8,
    });
  });

  test("a changed limit applies at once and keeps the present counts", () => {
    const { manager } = open();
    manager.setEndpoint({ id: "eu", rpmLimit: 10 });
    const handle = manager.handle({ endpoint: "eu" });
    for (let i = 0; i < 5; i++) handle.check(1);
    manager.setEndpoint({ id: "eu", rpmLimit: 5 });
    expect(handle.check(1)).toMatchObject({ allowed: false, currentRpm: 5, limitRpm: 5 });
    manager.setEndpoint({ id: "eu", rpmLimit: 2 });
    expect(handle.check(1)).toMatchObject({ allowed: false, utilization: 1 });
    manager.setEndpoint({ id: "eu", rpmLimit: 6 });
    expect(handle.check(1).allowed).toBe(true);
    expect(handle.check(1).allowed).toBe(false);
  });

  test("an unknown endpoint is an error that names it", () => {
    const { manager } = open();
    for (const act of [
      () => manager.check({ endpoint: "nowhere", tokens: 1 }),
      () => manager.peek({ endpoint: "nowhere", model: "m", tokens: 1 }),
      () => manager.handle({ endpoint: "nowhere" }),
    ])
      expect(thrown(act)).toMatchObject({ code: "RESOURCE_UNKNOWN", resource: "nowhere" });
  });

  test("a limit of 0 is fully used even for a request of 0 tokens, in check and peek", () => {
    const { manager } = open();
    manager.setEndpoint({ id: "eu", tpmLimit: 0, rpmLimit: 10 });
    for (let i = 0; i < 3; i++) {
      expect(manager.peek({ endpoint: "eu", tokens: 0 })).toMatchObject({ allowed: true, utilization: 1 });
      expect(manager.check({ endpoint: "eu", tokens: 0 })).toMatchObject({ allowed: true, utilization: 1 });
    }
  });

  test("utilization is that of the tightest limit", () => {
    for (const [tightest, key, endpoint] of [
      ["key-rpm", [4, 400], [8, 800]],
      ["key-tpm", [10, 40], [10, 80]],
      ["endpoint-rpm", [8, 800], [4, 400]],
      ["endpoint-tpm", [10, 80], [10, 40]],
    ] as const) {
      const { manager } = open();
      manager.setEndpoint({ id: "eu", rpmLimit: endpoint[0], tpmLimit: endpoint[1] });
      manager.setKey("acme", { rpmLimit: key[0], tpmLimit: key[1] });
      const ask = () => manager.check({ endpoint: "eu", key: "acme", tokens: 10 });
      const used = [ask(), ask(), ask(), ask()].map(({ utilization }) => utilization);
      expect([tightest, ...used]).toEqual([tightest, 0.25, 0.5, 0.75, 1]);
      expect(ask().limitedBy).toBe(tightest);
    }
  });

  test("when only the key denies, retryAfterMs is the key's", () => {
    const { manager, clock } = open({ window: "sliding" });
    manager.setEndpoint({ id: "eu", rpmLimit: 1000 });
    manager.setKey("acme", { rpmLimit: 10 });
    for (let i = 0; i < 10; i++) manager.check({ endpoint: "eu", key: "acme", tokens: 1 });
    clock.advance(MINUTE / 2);
    // All ten count fully at the edge of the next window, and nine of them count a tenth of a window later.
    expect(manager.check({ endpoint: "eu", key: "acme", tokens: 1 })).toMatchObject({
      limitedBy: "key-rpm",
      retryAfterMs: MINUTE / 10,
    });
    expect(manager.check({ endpoint: "eu", tokens: 1 }).allowed).toBe(true);
  });

  test("an endpoint above the mock threshold is counted and not limited", () => {
    const { manager } = open({ mockEndpointTpmThreshold: 1_000_000 });
    manager.setEndpoint({ id: "mock", rpmLimit: 1, tpmLimit: 1_000_001, maxInFlightPerProcess: 1, inputTpmLimit: 1 });
    manager.setEndpoint({ id: "real", rpmLimit: 1, tpmLimit: 1_000_000 });
    for (let i = 0; i < 5; i++) expect(manager.check({ endpoint: "mock", tokens: 900_000 }).allowed).toBe(true);
    expect(manager.peek({ endpoint: "mock", tokens: 1 })).toMatchObject({
      currentTpm: 4_500_000,
      limitTpm: Infinity,
      utilization: 0,
    });
    manager.check({ endpoint: "real", tokens: 1 });
    expect(manager.check({ endpoint: "real", tokens: 1 }).allowed).toBe(false);
  });
});
