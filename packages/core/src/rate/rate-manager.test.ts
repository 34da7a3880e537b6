import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isHivepaceError } from "../errors.ts";
import { ManualClock } from "../testing/manual-clock.ts";
import { RateManager } from "./rate-manager.ts";
import type { RateManagerOptions } from "./rate-types.ts";

const MINUTE = 60_000;
/** A time half a minute into a window. */
const START = Date.UTC(2030, 0, 1) + MINUTE / 2;

interface World {
  clock: ManualClock;
  manager: RateManager;
}

function alone(options: RateManagerOptions = {}): World {
  const clock = new ManualClock({ now: 1234.5, epochMs: START });
  return { clock, manager: new RateManager({ clock, ...options }) };
}

function sharing(options: RateManagerOptions = {}): World {
  const world = alone(options);
  world.manager.share({ maxIds: 64 });
  return world;
}

/** A manager as another thread would have it, simulated in this thread. */
function joined(options: RateManagerOptions = {}): World {
  const { clock, manager } = alone(options);
  const { limitsForKey, mockEndpointTpmThreshold } = options;
  const shared = structuredClone(manager.share({ maxIds: 64 }));
  return { clock, manager: new RateManager({ clock, shared, limitsForKey, mockEndpointTpmThreshold }) };
}

function code(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    if (isHivepaceError(error)) return error.code;
    throw error;
  }
  return "nothing thrown";
}

function thrown(act: () => unknown): unknown {
  try {
    act();
  } catch (error) {
    return error;
  }
  return undefined;
}

describe.each([
  ["alone", alone],
  ["sharing", sharing],
  ["joined", joined],
])("rate manager, %s", (_, open) => {
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

  test("a key that was never set has no limit of its own", () => {
    const { manager } = open();
    manager.setEndpoint({ id: "eu", rpmLimit: 2 });
    expect(manager.check({ endpoint: "eu", key: "anyone", tokens: 1 }).allowed).toBe(true);
    expect(manager.snapshot().keys).toEqual([]);
    const handle = manager.handle({ endpoint: "eu", key: "anyone" });
    manager.setKey("anyone", { rpmLimit: 0 });
    expect(handle.check(1).limitedBy).toBe("key-rpm");
    expect(manager.removeKey("anyone")).toBe(true);
    expect(manager.removeKey("anyone")).toBe(false);
    expect(handle.check(1).allowed).toBe(true);
  });

  test("a handle decides as check does, also after its ids are removed and set again", () => {
    const { manager } = open();
    manager.setEndpoint({ id: "eu", rpmLimit: 3 });
    manager.setKey("acme", { tpmLimit: 100 });
    const handle = manager.handle({ endpoint: "eu", key: "acme" });
    expect(handle.check(60)).toMatchObject({ allowed: true, currentRpm: 1 });
    expect(handle.check(60).limitedBy).toBe("key-tpm");
    manager.removeEndpoint("eu");
    expect(code(() => handle.check(1))).toBe("RESOURCE_UNKNOWN");
    manager.setEndpoint({ id: "eu", rpmLimit: 3 });
    expect(handle.check(1)).toMatchObject({ allowed: true, currentRpm: 2 });
  });

  test("an id that is removed and set again in one window keeps its counts", () => {
    const { manager, clock } = open();
    manager.setEndpoint({ id: "eu", rpmLimit: 3 });
    manager.setKey("acme", { rpmLimit: 3 });
    manager.check({ endpoint: "eu", key: "acme", tokens: 1 });
    manager.removeKey("acme");
    manager.removeEndpoint("eu");
    manager.setEndpoint({ id: "eu", rpmLimit: 3 });
    manager.setKey("acme", { rpmLimit: 3 });
    expect(manager.check({ endpoint: "eu", key: "acme", tokens: 1 })).toMatchObject({ currentRpm: 2 });
    clock.advance(MINUTE);
    expect(manager.check({ endpoint: "eu", key: "acme", tokens: 1 })).toMatchObject({ currentRpm: 1 });
  });

  test("models have their own limits, share the endpoint's or draw from a pool", () => {
    const { manager } = open();
    manager.setEndpoint({ id: "eu", model: "big", rpmLimit: 1 });
    manager.setEndpoint({ id: "eu", models: ["a", "b"], rpmLimit: 3, inputTpmLimit: 100 });
    expect(code(() => manager.check({ endpoint: "eu", tokens: 1 }))).toBe("RESOURCE_UNKNOWN");
    manager.setEndpoint({ id: "eu", rpmLimit: 2 });
    const ask = (model?: string) => manager.check({ endpoint: "eu", model, tokens: 1 }).allowed;
    expect([ask("big"), ask("big")]).toEqual([true, false]);
    expect([ask("a"), ask("b"), ask("a"), ask("b")]).toEqual([true, true, true, false]);
    expect([ask(), ask("other"), ask("another")]).toEqual([true, true, false]);
    expect(
      manager.snapshot().endpoints.map(({ id, model, models, requests }) => [id, model, models, requests]),
    ).toEqual(
      expect.arrayContaining([
        ["eu", "big", undefined, 1],
        ["eu", expect.any(String), expect.arrayContaining(["a", "b"]), 3],
        ["eu", undefined, undefined, 2],
      ]),
    );
    manager.removeEndpoint("eu", "a");
    expect(manager.check({ endpoint: "eu", model: "b", tokens: 1 })).toMatchObject({ limitRpm: 3, allowed: false });
    manager.setEndpoint({ id: "eu", models: ["b", "c"], rpmLimit: 4 });
    expect([ask("c"), ask("b")]).toEqual([true, false]);
    manager.removeEndpoint("eu");
    expect(manager.snapshot().endpoints).toEqual([]);
    expect(code(() => ask("b"))).toBe("RESOURCE_UNKNOWN");
  });

  test("input and output tokens have limits of their own", () => {
    const { manager } = open();
    manager.setEndpoint({ id: "eu", tpmLimit: 1000, inputTpmLimit: 100, outputTpmLimit: 50 });
    const ask = (inputTokens?: number, outputTokens?: number, tokens = 60) =>
      manager.check({ endpoint: "eu", tokens, inputTokens, outputTokens });
    expect(ask(40, 20).allowed).toBe(true);
    expect(ask(10, 40)).toMatchObject({
      limitedBy: "endpoint-output-tpm",
      currentTpm: 20,
      limitTpm: 50,
      currentRpm: 1,
    });
    expect(ask(70, 1)).toMatchObject({ limitedBy: "endpoint-input-tpm", currentTpm: 40, limitTpm: 100 });
    expect(ask(1, 51)).toMatchObject({ limitedBy: "endpoint-output-tpm", reason: "too-large" });
    // Token parts that are not given may be all of the tokens.
    expect(ask(undefined, 0).allowed).toBe(true);
    expect(ask(undefined, undefined, 1).limitedBy).toBe("endpoint-input-tpm");
    expect(manager.snapshot().endpoints).toMatchObject([{ inputTokens: 100, outputTokens: 20, inputTpmLimit: 100 }]);
  });

  test("requests in flight are counted until they are settled or cancelled, also after their window", () => {
    const { manager, clock } = open();
    manager.setEndpoint({ id: "eu", maxInFlightPerProcess: 2, rpmLimit: 100 });
    const ask = () => manager.check({ endpoint: "eu", tokens: 1 });
    const [first, second] = [ask(), ask()];
    expect(ask()).toMatchObject({
      limitedBy: "endpoint-in-flight",
      reason: "in-flight",
      retryAfterMs: undefined,
      utilization: 1,
    });
    clock.advance(10 * MINUTE);
    expect(ask().allowed).toBe(false);
    manager.settle(first, 5);
    manager.settle(first, 5);
    expect(ask().allowed).toBe(true);
    expect(ask().allowed).toBe(false);
    manager.cancel(second);
    manager.cancel(second);
    expect(manager.snapshot().endpoints).toMatchObject([{ inFlight: 1, maxInFlightPerProcess: 2, requests: 1 }]);
    // Requests that a dead thread left in flight vanish when the endpoint is removed and set again.
    manager.removeEndpoint("eu");
    manager.setEndpoint({ id: "eu", maxInFlightPerProcess: 2 });
    expect(manager.snapshot().endpoints).toMatchObject([{ inFlight: 0 }]);
  });

  test("settle corrects the estimate, up or down, once", () => {
    const { manager } = open();
    manager.setEndpoint({ id: "eu", tpmLimit: 100, inputTpmLimit: 90 });
    manager.setKey("acme", { tpmLimit: 200 });
    const first = manager.check({ endpoint: "eu", key: "acme", tokens: 80, inputTokens: 60 });
    manager.settle(first, 30, { inputTokens: 20, outputTokens: 10 });
    manager.settle(first, 0);
    manager.cancel(first);
    expect(manager.snapshot()).toMatchObject({
      endpoints: [{ tokens: 30, requests: 1, inputTokens: 20, outputTokens: 10 }],
      keys: [{ tokens: 30, requests: 1 }],
    });
    const second = manager.check({ endpoint: "eu", key: "acme", tokens: 10 });
    manager.settle(second, 500);
    expect(manager.snapshot()).toMatchObject({ endpoints: [{ tokens: 530 }], keys: [{ tokens: 530 }] });
    expect(manager.check({ endpoint: "eu", tokens: 1 })).toMatchObject({ allowed: false, utilization: 1 });
  });

  test("cancel refunds the whole charge, once", () => {
    const { manager } = open();
    manager.setEndpoint({ id: "eu", tpmLimit: 100, outputTpmLimit: 50 });
    manager.setKey("acme", { tpmLimit: 200 });
    const kept = manager.check({ endpoint: "eu", key: "acme", tokens: 7 });
    const decision = manager.check({ endpoint: "eu", key: "acme", tokens: 30 });
    for (let i = 0; i < 3; i++) manager.cancel(decision);
    manager.settle(decision, 90);
    expect(manager.snapshot()).toMatchObject({
      endpoints: [{ tokens: 7, requests: 1, outputTokens: 7 }],
      keys: [{ tokens: 7, requests: 1 }],
    });
    expect(kept.allowed).toBe(true);
  });

  test.each(["fixed", "sliding"] as const)("settle and cancel leave other %s windows alone", (window) => {
    const { manager, clock } = open({ window });
    manager.setEndpoint({ id: "eu", tpmLimit: 1000 });
    const [a, b] = [manager.check({ endpoint: "eu", tokens: 100 }), manager.check({ endpoint: "eu", tokens: 100 })];
    clock.advance(MINUTE);
    const before = manager.peek({ endpoint: "eu", tokens: 1 });
    manager.settle(a, 900);
    manager.cancel(b);
    expect(manager.peek({ endpoint: "eu", tokens: 1 })).toEqual(before);
    clock.advance(255 * MINUTE);
    manager.check({ endpoint: "eu", tokens: 50 });
    manager.settle(a, 900);
    expect(manager.snapshot().endpoints).toMatchObject([{ tokens: 50 }]);
  });

  test("a denied or peeked decision has no charge to settle; a copy or another manager's decision is refused", () => {
    const { manager } = open();
    manager.setEndpoint({ id: "eu", tpmLimit: 100 });
    const decision = manager.check({ endpoint: "eu", tokens: 100 });
    manager.settle(manager.check({ endpoint: "eu", tokens: 1 }), 50);
    manager.cancel(manager.peek({ endpoint: "eu", tokens: 1 }));
    expect(manager.snapshot().endpoints).toMatchObject([{ tokens: 100 }]);
    expect(code(() => manager.cancel({ ...decision }))).toBe("INVALID_CONFIG");
    expect(code(() => open().manager.cancel(decision))).toBe("INVALID_CONFIG");
    manager.cancel(decision);
    expect(manager.snapshot().endpoints).toMatchObject([{ tokens: 0 }]);
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

  test.each([MINUTE * 60, -MINUTE * 60, 12_345, -1])("a wall clock that steps by %d ms moves no window", (step) => {
    const { manager, clock } = open();
    manager.setEndpoint({ id: "eu", rpmLimit: 1 });
    const { windowStart } = manager.check({ endpoint: "eu", tokens: 1 });
    clock.stepWallClock(step);
    expect(manager.check({ endpoint: "eu", tokens: 1 })).toMatchObject({
      allowed: false,
      retryAfterMs: MINUTE / 2,
      windowStart,
    });
    clock.advance(MINUTE / 2);
    expect(manager.check({ endpoint: "eu", tokens: 1 })).toMatchObject({
      allowed: true,
      windowStart: windowStart + MINUTE,
    });
  });

  test("a monotonic clock that jumps back frees no capacity", () => {
    const { manager, clock } = open();
    manager.setEndpoint({ id: "eu", rpmLimit: 1 });
    manager.setKey("acme", { rpmLimit: 10 });
    clock.advance(MINUTE);
    manager.check({ endpoint: "eu", tokens: 1 });
    clock.jump(-MINUTE);
    expect(manager.check({ endpoint: "eu", key: "acme", tokens: 1 })).toMatchObject({
      allowed: false,
      retryAfterMs: MINUTE * 1.5,
    });
    clock.advance(MINUTE * 1.5);
    expect(manager.check({ endpoint: "eu", key: "acme", tokens: 1 }).allowed).toBe(true);
  });

  test("twice the limit can pass at the edge of a fixed window, but not of a sliding one", () => {
    const around = (window: "fixed" | "sliding"): number => {
      const { manager, clock } = open({ window });
      manager.setEndpoint({ id: "eu", rpmLimit: 100 });
      clock.advance(MINUTE / 2 - 1);
      let allowed = 0;
      for (let i = 0; i < 200; i++) if (manager.check({ endpoint: "eu", tokens: 1 }).allowed) allowed++;
      clock.advance(2);
      for (let i = 0; i < 200; i++) if (manager.check({ endpoint: "eu", tokens: 1 }).allowed) allowed++;
      return allowed;
    };
    expect(around("fixed")).toBe(200);
    expect(around("sliding")).toBeLessThanOrEqual(101);
  });

  test.each(["fixed", "sliding"] as const)(
    "a denied request is allowed after retryAfterMs and not before: %s windows",
    (window) => {
      for (const [first, second, gap] of [
        [1000, 1000, 100],
        [800, 300, 31_000],
        [900, 900, 45_000],
        [500, 800, 1_000],
        [1000, 1, 59_999],
      ] as const) {
        const { manager, clock } = open({ window });
        manager.setEndpoint({ id: "eu", tpmLimit: 1000 });
        manager.setKey("acme", { tpmLimit: 1100 });
        const ask = (tokens: number) => manager.check({ endpoint: "eu", key: "acme", tokens });
        ask(first);
        clock.advance(gap);
        const denied = manager.peek({ endpoint: "eu", key: "acme", tokens: second });
        if (denied.allowed) continue;
        const wait = denied.retryAfterMs as number;
        expect(Number.isInteger(wait)).toBe(true);
        clock.advance(wait - 1);
        expect(ask(second).allowed).toBe(false);
        clock.advance(1);
        expect(ask(second)).toMatchObject({ allowed: true });
      }
    },
  );

  test("rephase aligns windows with another clock at its next edge and counts no window twice", () => {
    for (const ahead of [-20_000, 20_000, 45_000, -3_600_000 + 10_000, 3_600_000 * 24 + 59_000]) {
      const { manager, clock } = open();
      manager.setEndpoint({ id: "eu", rpmLimit: 1 });
      const offset = START + ahead - clock.now();
      expect(manager.check({ endpoint: "eu", tokens: 1 }).allowed).toBe(true);
      manager.rephase(clock.now() + offset);
      manager.rephase(clock.now() + offset);
      const granted: number[] = [];
      for (let ms = 0; ms < 5 * MINUTE; ms += 500) {
        if (manager.check({ endpoint: "eu", tokens: 1 }).allowed) granted.push(clock.now() + offset);
        clock.advance(500);
      }
      // From the next edge of the other clock on, one request is granted in each of its windows, at its edge.
      expect(granted.map((at) => at % MINUTE)).toEqual(granted.map(() => 0));
      expect(granted.length).toBeGreaterThanOrEqual(4);
      for (const [i, at] of granted.entries()) if (i > 0) expect(at - (granted[i - 1] as number)).toBe(MINUTE);
    }
  });

  test("rephase ends the present window within one window, at the other clock's edge, for any distance of the clocks", () => {
    fc.assert(
      fc.property(fc.integer({ min: -200_000, max: 200_000 }), fc.integer({ min: 0, max: MINUTE - 1 }), (ahead, ms) => {
        const { manager, clock } = open();
        manager.setEndpoint({ id: "eu", rpmLimit: 1 });
        clock.advance(ms);
        const other = () => clock.epochMs() + ahead;
        manager.rephase(other());
        const { remainingMs } = manager.snapshot();
        expect(remainingMs).toBeGreaterThan(0);
        expect(remainingMs).toBeLessThanOrEqual(MINUTE * 1.05);
        // The other clock's edge has just passed and ours is about to come: ours is kept, and the next call shifts.
        if ((other() + remainingMs) % MINUTE > 0) {
          expect(remainingMs).toBeLessThan(MINUTE / 20);
          clock.advance(remainingMs);
          manager.rephase(other());
        }
        expect((other() + manager.snapshot().remainingMs) % MINUTE).toBe(0);
      }),
    );
  });

  test("rephase to a slightly different clock changes a window's length only by the difference, anywhere in a window", () => {
    const anywhere = fc.integer({ min: 0, max: MINUTE - 1 });
    const closeToAnEdge = fc.integer({ min: MINUTE / 2 - 3_000, max: MINUTE / 2 });
    fc.assert(
      fc.property(fc.integer({ min: -3_000, max: 3_000 }), fc.oneof(anywhere, closeToAnEdge), (ahead, ms) => {
        const { manager, clock } = open();
        manager.setEndpoint({ id: "eu", rpmLimit: 1 });
        const edges: number[] = [clock.now() - MINUTE / 2];
        let windowStart = manager.snapshot().windowStart;
        let endsAt = clock.now() + manager.snapshot().remainingMs;
        const look = () => {
          const seen = manager.snapshot();
          // A shift changes the displayed start of the present window by less than a window.
          if (seen.windowStart - windowStart > MINUTE / 2) edges.push(endsAt);
          windowStart = seen.windowStart;
          endsAt = clock.now() + seen.remainingMs;
        };
        clock.advance(ms);
        for (let i = 0; i < 150; i++) {
          look();
          manager.rephase(clock.epochMs() + ahead);
          look();
          clock.advance(2_000);
        }
        expect(edges.length).toBeGreaterThanOrEqual(5);
        const lengths = edges.slice(1).map((at, i) => at - (edges[i] as number));
        for (const length of lengths) expect(Math.abs(length - MINUTE)).toBeLessThanOrEqual(Math.abs(ahead));
        expect((clock.epochMs() + ahead + manager.snapshot().remainingMs) % MINUTE).toBe(0);
      }),
      { numRuns: 25 },
    );
  });

  test("a window that began slightly early continues past the other clock's edge until that clock's next edge", () => {
    const { manager, clock } = open();
    manager.setEndpoint({ id: "eu", rpmLimit: 1 });
    clock.advance(MINUTE / 2);
    expect(manager.check({ endpoint: "eu", tokens: 1 }).allowed).toBe(true);
    manager.rephase(clock.epochMs() - 1_000);
    expect(manager.snapshot().remainingMs).toBe(MINUTE + 1_000);
    clock.advance(MINUTE + 999);
    expect(manager.check({ endpoint: "eu", tokens: 1 }).allowed).toBe(false);
    clock.advance(1);
    expect(manager.check({ endpoint: "eu", tokens: 1 }).allowed).toBe(true);
  });

  test("a clock that drifts for years shifts the windows slightly each time and never by a whole window", () => {
    const day = 86_400_000;
    const { manager, clock } = open({ windowMs: day });
    manager.setEndpoint({ id: "eu", rpmLimit: 1 });
    let [behind, longest] = [0, 0];
    for (let i = 0; i < 1_000; i++) {
      behind += 30;
      manager.rephase(clock.epochMs() - behind);
      longest = Math.max(longest, manager.snapshot().remainingMs);
      clock.advance(day);
    }
    expect(longest).toBeLessThanOrEqual(day + 30);
    expect((clock.epochMs() - behind + manager.snapshot().remainingMs) % day).toBe(0);
    expect(manager.check({ endpoint: "eu", tokens: 1 }).allowed).toBe(true);
    clock.advance(manager.snapshot().remainingMs);
    expect(manager.check({ endpoint: "eu", tokens: 1 }).allowed).toBe(true);
    expect(manager.check({ endpoint: "eu", tokens: 1 }).allowed).toBe(false);
  });

  test("loadConfig accepts the names of configuration files, replaces limits and keeps counts", () => {
    const { manager } = open();
    manager.setEndpoint({ id: "old", rpmLimit: 1 });
    manager.setKey("gone", { rpmLimit: 0 });
    manager.setEndpoint({ id: "anthropic-primary", rpmLimit: 1 });
    manager.check({ endpoint: "anthropic-primary", tokens: 10 });
    manager.loadConfig({
      endpoints: [
        { id: "anthropic-primary", rpm_limit: 1000, tpm_limit: 100000 },
        { id: "eu", model: "m", rpmLimit: 5 },
        { id: "pool", models: ["a", "b"], max_in_flight_per_process: 3, output_tpm_limit: 7 },
      ],
      keys: { acme_inc: { rate_limit_rpm: 100, rate_limit_tpm: 50000 } },
    });
    expect(manager.check({ endpoint: "anthropic-primary", key: "acme_inc", tokens: 5 })).toMatchObject({
      currentRpm: 2,
      limitRpm: 1000,
      limitTpm: 100000,
    });
    expect(manager.snapshot().keys).toEqual([
      { id: "acme_inc", requests: 1, tokens: 5, rpmLimit: 100, tpmLimit: 50000 },
    ]);
    expect(manager.snapshot({ keys: false })).toEqual({ ...manager.snapshot(), keys: [] });
    expect(code(() => manager.check({ endpoint: "old", tokens: 1 }))).toBe("RESOURCE_UNKNOWN");
    expect(manager.check({ endpoint: "eu", model: "m", key: "gone", tokens: 1 })).toMatchObject({ limitRpm: 5 });
    expect(manager.check({ endpoint: "pool", model: "b", tokens: 8 })).toMatchObject({
      limitedBy: "endpoint-output-tpm",
    });
    // Limits of an absent part stay unchanged.
    manager.loadConfig({ keys: {} });
    expect(manager.peek({ endpoint: "eu", model: "m", tokens: 1 }).allowed).toBe(true);
    manager.loadConfig({ endpoints: [] });
    expect(manager.snapshot().endpoints).toEqual([]);
  });

  test("loadConfig changes nothing when any entry is invalid, and names its path", () => {
    const { manager } = open();
    manager.setEndpoint({ id: "eu", rpmLimit: 3 });
    const before = manager.snapshot();
    const ok = { id: "us", rpm_limit: 1 };
    for (const [config, option, value] of [
      [{ endpoints: [ok, { ...ok, model: "m" }, { id: "x", rpm_limit: -1 }] }, "endpoints[2].rpm_limit", -1],
      [{ endpoints: [ok, { id: "us" }] }, "endpoints[1]", "us"],
      [
        {
          endpoints: [
            { id: "x", model: "a" },
            { id: "x", models: ["b", "a"] },
          ],
        },
        "endpoints[1]",
        "x a",
      ],
      [{ endpoints: [{ id: "x", tpm_limit: "many" }] }, "endpoints[0].tpm_limit", "many"],
      [{ endpoints: [{ id: "x", tpmLimit: Number.NaN }] }, "endpoints[0].tpmLimit", Number.NaN],
      [{ endpoints: [{ rpm_limit: 1 }] }, "endpoints[0].id", undefined],
      [{ endpoints: [{ id: "x", models: [] }] }, "endpoints[0].models", []],
      [{ endpoints: [{ id: "x", models: ["a", ""] }] }, "endpoints[0].models[1]", ""],
      // A store could not encode such a name, and its sync would fail for all names.
      [{ endpoints: [{ id: "x\ud800" }] }, "endpoints[0].id", "x\ud800"],
      [{ endpoints: [{ id: "x\0y" }] }, "endpoints[0].id", "x\0y"],
      [{ endpoints: {} }, "endpoints", {}],
      [{ endpoints: [ok], keys: { a: { rate_limit_rpm: -5 } } }, "keys.a.rate_limit_rpm", -5],
      [{ endpoints: [ok], keys: { a: 5 } }, "keys.a", 5],
      ["endpoints", "config", "endpoints"],
    ] as const) {
      const error = thrown(() => manager.loadConfig(config as never));
      expect(error).toMatchObject({ code: "INVALID_CONFIG", option, value });
      expect(manager.snapshot()).toEqual(before);
    }
  });

  test("a mistake in a call names the option, the rule and the value", () => {
    const { manager } = open();
    manager.setEndpoint({ id: "eu", rpmLimit: 3 });
    for (const act of [
      () => manager.setEndpoint({ id: "", rpmLimit: 3 }),
      () => manager.setEndpoint({ id: "a\0b" }),
      () => manager.setEndpoint({ id: "x", rpmLimit: -1 }),
      () => manager.setEndpoint({ id: "x", model: "m", models: ["n"] }),
      () => manager.setKey("k", { rpmLimit: Number.NaN }),
      () => manager.check({ endpoint: "eu", tokens: -1 }),
      () => manager.check({ endpoint: "eu", tokens: Number.NaN }),
      () => manager.check({ endpoint: "eu", tokens: Infinity }),
      () => manager.settle(manager.check({ endpoint: "eu", tokens: 1 }), -1),
      () => new RateManager({ window: "other" as never }),
      () => new RateManager({ mockEndpointTpmThreshold: -1 }),
      () => new RateManager({ shared: {} as never }),
      () => new RateManager({ limitsForKey: 5 as never }),
    ])
      expect(code(act)).toBe("INVALID_CONFIG");
    expect(code(() => new RateManager({ windowMs: 0 }))).toBe("INVALID_WINDOW");
  });

  test("keys are created on demand and forgotten when they are idle", () => {
    let made = 0;
    const { manager, clock } = open({
      limitsForKey: (key) => {
        made++;
        return key.startsWith("free") ? { rpmLimit: 2 } : undefined;
      },
    });
    manager.setEndpoint({ id: "eu" });
    manager.setKey("set", { rpmLimit: 2 });
    const ask = (key: string) => manager.check({ endpoint: "eu", key, tokens: 1 }).allowed;
    for (let minute = 0; minute < 100; minute++) {
      for (let i = 0; i < 20; i++) {
        const key = `free-${minute}-${i}`;
        expect([ask(key), ask(key), ask(key)]).toEqual([true, true, false]);
      }
      expect([ask("set"), ask("set"), ask("set")]).toEqual([true, true, false]);
      clock.advance(MINUTE);
    }
    expect(made).toBe(2000);
    expect(ask("paid")).toBe(true);
  });
});

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

test("a limit on the calls of all processes is refused, and the error names the option for one process", () => {
  const manager = new RateManager();
  expect(() => manager.setEndpoint({ id: "eu", maxInFlight: 2 } as never)).toThrow(/maxInFlightPerProcess/);
  expect(() => manager.loadConfig({ endpoints: [{ id: "eu", max_in_flight: 2 } as never] })).toThrow(
    /endpoints\[0\]\.max_in_flight must be an option that exists \(did you mean maxInFlightPerProcess\?\)/,
  );
});
