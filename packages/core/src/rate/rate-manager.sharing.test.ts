import { describe, expect, test } from "vitest";
import { ManualClock } from "../testing/manual-clock.ts";
import { RateManager } from "./rate-manager.ts";
import type { RateManagerOptions } from "./rate-types.ts";
import { alone, code, MINUTE, START } from "./test-managers.ts";

describe("rate managers that share", () => {
  function two(options: RateManagerOptions = {}): { first: RateManager; second: RateManager; clock: ManualClock } {
    const { clock, manager: first } = alone(options);
    first.setEndpoint({ id: "eu", rpmLimit: 100 });
    first.setKey("acme", { rpmLimit: 5 });
    return { clock, first, second: new RateManager({ clock, shared: structuredClone(first.share({ maxIds: 16 })) }) };
  }

  test("find each other's ids, limits and counts, in any order of setting", () => {
    const { first, second } = two();
    second.setEndpoint({ id: "us", rpmLimit: 2 });
    expect(second.check({ endpoint: "eu", key: "acme", tokens: 1 }).allowed).toBe(true);
    expect(first.check({ endpoint: "us", tokens: 1 }).currentRpm).toBe(1);
    expect(second.check({ endpoint: "us", tokens: 1 }).currentRpm).toBe(2);
    expect(first.check({ endpoint: "us", tokens: 1 }).limitedBy).toBe("endpoint-rpm");
    expect(first.snapshot()).toEqual(second.snapshot());
    second.setKey("acme", { rpmLimit: 1 });
    expect(first.check({ endpoint: "eu", key: "acme", tokens: 1 }).limitedBy).toBe("key-rpm");
    second.removeEndpoint("eu");
    expect(code(() => first.check({ endpoint: "eu", tokens: 1 }))).toBe("RESOURCE_UNKNOWN");
  });

  test("a key that another thread removes is no longer counted, not even by a handle", () => {
    const { first, second } = two();
    const handle = first.handle({ endpoint: "eu", key: "acme" });
    handle.check(1);
    second.removeKey("acme");
    handle.check(1);
    expect(first.snapshot().endpoints).toMatchObject([{ id: "eu", requests: 2 }]);
    second.setKey("acme", { rpmLimit: 5 });
    expect(first.snapshot().keys).toMatchObject([{ id: "acme", requests: 1 }]);
    handle.check(1);
    expect(second.snapshot().keys).toMatchObject([{ id: "acme", requests: 2 }]);
  });

  test("a thread whose clock is slightly behind counts the whole request into the later window", () => {
    const { first, clock } = two();
    const behind = new ManualClock({ now: clock.now(), epochMs: START });
    const second = new RateManager({ clock: behind, shared: first.share() });
    clock.advance(MINUTE / 2);
    behind.advance(MINUTE / 2 - 1);
    first.check({ endpoint: "eu", tokens: 1 });
    const decision = second.check({ endpoint: "eu", key: "acme", tokens: 1 });
    expect(decision).toMatchObject({ allowed: true, currentRpm: 2, windowStart: START + MINUTE / 2 });
    expect(first.snapshot().keys).toMatchObject([{ requests: 1 }]);
    second.cancel(decision);
    expect(first.snapshot()).toMatchObject({ endpoints: [{ requests: 1 }], keys: [] });
  });

  test.each([
    ["used before in the earlier window", true],
    ["not used before", false],
  ])("a denial in a later window leaves no charge in the key's earlier window: a key %s", (_, isUsed) => {
    const { first, clock } = two();
    const late = (): [RateManager, ManualClock] => {
      const behind = new ManualClock({ now: clock.now(), epochMs: START });
      return [new RateManager({ clock: behind, shared: first.share() }), behind];
    };
    const [[second, behind], [witness]] = [late(), late()];
    first.setEndpoint({ id: "us" });
    const used = isUsed ? [{ id: "acme", requests: 1, tokens: 3 }] : [];
    if (isUsed) second.check({ endpoint: "us", key: "acme", tokens: 3 });
    clock.advance(MINUTE / 2);
    behind.advance(MINUTE / 2 - 1);
    for (let i = 0; i < 100; i++) first.check({ endpoint: "eu", tokens: 1 });
    // The key has capacity and the endpoint is full in the later window: the key's word was not advanced, so its old
    // count shows.
    expect(second.check({ endpoint: "eu", key: "acme", tokens: 1 })).toMatchObject({
      allowed: false,
      limitedBy: "endpoint-rpm",
      windowStart: START + MINUTE / 2,
    });
    expect(witness.snapshot().keys.map(({ id, requests, tokens }) => ({ id, requests, tokens }))).toEqual(used);
  });

  test("decisions and handles made before sharing remain valid", () => {
    const { manager } = alone();
    manager.setEndpoint({ id: "eu", models: ["a", "b"], tpmLimit: 100, inputTpmLimit: 90, maxInFlightPerProcess: 2 });
    manager.setEndpoint({ id: "gone", tpmLimit: 100 });
    manager.setKey("acme", { tpmLimit: 100 });
    const handle = manager.handle({ endpoint: "eu", model: "b", key: "acme" });
    const [decision, lost] = [handle.check(40), manager.check({ endpoint: "gone", tokens: 7 })];
    manager.removeEndpoint("gone");
    const before = manager.snapshot();
    manager.share({ maxIds: 16 });
    expect(manager.snapshot()).toEqual(before);
    manager.cancel(lost);
    manager.settle(decision, 30, { inputTokens: 10 });
    expect(handle.check(70)).toMatchObject({ allowed: true, currentTpm: 100 });
    expect(manager.snapshot()).toMatchObject({
      endpoints: [{ tokens: 100, inputTokens: 80, inFlight: 1 }],
      keys: [{ tokens: 100 }],
    });
  });

  test("the handle decides the window; another length or kind is refused", () => {
    const { first, clock } = two({ windowMs: 5_000, window: "sliding" });
    const shared = first.share();
    expect(first.share()).toBe(shared);
    expect(new RateManager({ clock, shared }).snapshot().windowMs).toBe(5_000);
    expect(code(() => new RateManager({ clock, shared, windowMs: 6_000 }))).toBe("INVALID_CONFIG");
    expect(code(() => new RateManager({ clock, shared, window: "fixed" }))).toBe("INVALID_CONFIG");
    expect(code(() => alone().manager.share({ maxIds: 0 }))).toBe("INVALID_CONFIG");
  });

  test("a full table rejects new ids, and a table too small for the existing ids is enlarged", () => {
    const { manager } = alone();
    for (let i = 0; i < 100; i++) manager.setKey(`key ${i}`, { rpmLimit: i });
    manager.share({ maxIds: 4 });
    expect(
      code(() => {
        for (let i = 100; i < 400; i++) manager.setKey(`key ${i}`, { rpmLimit: i });
      }),
    ).toBe("TABLE_FULL");
  });

  test("sharing without WebAssembly is refused, and everything else works", () => {
    const { manager } = alone();
    manager.setEndpoint({ id: "eu", rpmLimit: 1 });
    const { WebAssembly } = globalThis as { WebAssembly?: unknown };
    try {
      Object.assign(globalThis, { WebAssembly: undefined });
      expect(code(() => manager.share())).toBe("SHARING_UNAVAILABLE");
    } finally {
      Object.assign(globalThis, { WebAssembly });
    }
    expect(manager.check({ endpoint: "eu", tokens: 1 }).allowed).toBe(true);
    expect(manager.check({ endpoint: "eu", tokens: 1 }).allowed).toBe(false);
  });
});

describe("many keys in one thread", () => {
  test("keys created on demand reuse the records of idle keys, so memory follows the active keys", () => {
    const { manager, clock } = alone({ limitsForKey: () => ({ rpmLimit: 1 }) });
    manager.setEndpoint({ id: "eu" });
    for (let minute = 0; minute < 50; minute++) {
      for (let i = 0; i < 2_000; i++) manager.check({ endpoint: "eu", key: `${minute} ${i}`, tokens: 1 });
      expect(manager.snapshot().keys).toHaveLength(2_000);
      clock.advance(MINUTE);
    }
    // Sharing copies the existing records, and 100,000 of them would not fit.
    manager.share({ maxIds: 1 });
    expect(code(() => manager.setKey("more", {}))).toBe("nothing thrown");
  });
});
