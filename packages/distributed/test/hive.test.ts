import { type MessageBus, memoryBus } from "@hivepace/bus";
import { isHivepaceError, type SyncStore } from "@hivepace/core";
import { memorySyncStore, SyncMemory } from "@hivepace/core/testing";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createHive, type Hive } from "../src/index.ts";
import { callOn, TestHives, watch } from "./support/hives.ts";
import { collectWarnings } from "./support/warnings.ts";

let hives: TestHives;
let warnings: ReturnType<typeof collectWarnings>;
beforeEach(() => {
  hives = new TestHives();
  warnings = collectWarnings();
});
afterEach(async () => {
  await hives.close();
  warnings.stop();
  expect(hives.clock.pending).toBe(0);
});

const EU = { id: "eu", rpmLimit: 10, tpmLimit: 1_000 };
const US = { id: "us", rpmLimit: 10, tpmLimit: 1_000 };

describe("alone", () => {
  test("has the whole limit at once, and no more of it in any window", async () => {
    const hive = await hives.alone({ endpoints: [EU] });
    for (let i = 0; i < 10; i++) (await hive.acquire({ endpoint: "eu", tokens: 10 })).done();
    const denied = hive.tryAcquire({ endpoint: "eu", tokens: 10 });
    expect(denied).toMatchObject({ allowed: false, endpoint: "eu", reason: "rate" });
    expect(denied.lease).toBeUndefined();
    const waiting = watch(hive.acquire({ endpoint: "eu", tokens: 10 }));
    await hives.clock.run(59_000);
    expect(waiting.lease).toBeUndefined();
    await hives.clock.run(1_500);
    expect(waiting.lease?.endpoint).toBe("eu");
  });

  test("tokens are limited as requests are, and unused ones are available again", async () => {
    const hive = await hives.alone({ endpoints: [EU] });
    const lease = await hive.acquire({ endpoint: "eu", tokens: 900 });
    const waiting = watch(hive.acquire({ endpoint: "eu", tokens: 600 }));
    await hives.clock.run(10);
    expect(waiting.lease).toBeUndefined();
    lease.done({ tokens: 300 });
    await hives.clock.run(10);
    expect(waiting.lease).toBeDefined();
    expect(hive.tryAcquire({ endpoint: "eu", tokens: 101 }).allowed).toBe(false);
    expect(hive.tryAcquire({ endpoint: "eu", tokens: 100 }).allowed).toBe(true);
  });

  test("a call that was never sent costs nothing: no request, no token, not even of its key", async () => {
    const hive = await hives.alone({ endpoints: [EU], keys: { acme: { rpmLimit: 1, tpmLimit: 100 } } });
    for (let i = 0; i < 50; i++) (await hive.acquire({ endpoint: "eu", key: "acme", tokens: 100 })).cancel();
    expect(hive.tryAcquire({ endpoint: "eu", key: "acme", tokens: 100 }).allowed).toBe(true);
    expect(hive.explain("eu").limits.map(({ used }) => used)).toEqual([1, 100]);
  });

  test("a request that can never be granted is refused at once, with the limit", async () => {
    const hive = await hives.alone({ endpoints: [EU] });
    const error: unknown = await hive.acquire({ endpoint: "eu", tokens: 1_001 }).catch((e) => e);
    expect(error).toMatchObject({ code: "CAPACITY_EXHAUSTED", reason: "too-large", retryAfterMs: undefined });
    expect(hive.tryAcquire({ endpoint: "eu", tokens: 1_001 })).toMatchObject({ allowed: false, reason: "too-large" });
  });

  test("an endpoint without limits counts calls and admits all", async () => {
    const hive = await hives.alone({ endpoints: [{ id: "free" }] });
    for (let i = 0; i < 5_000; i++) expect(hive.tryAcquire({ endpoint: "free", tokens: 1e6 }).allowed).toBe(true);
    expect(hive.explain("free")).toMatchObject({ limits: [], freesInMs: 0, inFlight: 5_000 });
  });

  test("limits of a model, of a pool of models and of all others are independent", async () => {
    const hive = await hives.alone({
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
    const hive = await hives.alone({ endpoints: [{ id: "eu", inputTpmLimit: 100, outputTpmLimit: 50 }] });
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
    const hive = await hives.alone({ endpoints: [{ id: "eu", maxInFlightPerProcess: 2 }] });
    const [first] = [await hive.acquire({ endpoint: "eu" }), await hive.acquire({ endpoint: "eu" })];
    const waiting = watch(hive.acquire({ endpoint: "eu" }));
    await hives.clock.run(100_000);
    expect(waiting.lease).toBeUndefined();
    first.done();
    await hives.clock.run(1);
    expect(waiting.lease).toBeDefined();
  });

  test("an unknown endpoint is an error, as is a request without one", async () => {
    const hive = await hives.alone({ endpoints: [EU] });
    await expect(hive.acquire({ endpoint: "mars" })).rejects.toMatchObject({ code: "RESOURCE_UNKNOWN" });
    // @ts-expect-error a request needs an endpoint or a route
    await expect(hive.acquire({})).rejects.toMatchObject({ code: "INVALID_CONFIG", option: "endpoint" });
    await expect(hive.acquire({ route: [] })).rejects.toMatchObject({ code: "INVALID_CONFIG", option: "route" });
    await expect(hive.acquire({ endpoint: "eu", tokens: -1 })).rejects.toMatchObject({ option: "tokens" });
    await expect(hive.acquire({ endpoint: "eu", timeoutMs: -1 })).rejects.toMatchObject({ option: "timeoutMs" });
  });
});

describe("a lease", () => {
  test("ends once, by the first call", async () => {
    const hive = await hives.alone({ endpoints: [EU] });
    const lease = await hive.acquire({ endpoint: "eu", tokens: 500 });
    lease.done({ tokens: 100 });
    lease.cancel();
    lease.refused({ reason: "429" });
    lease.done({ tokens: 900 });
    expect(hive.explain("eu")).toMatchObject({ level: 1, inFlight: 0 });
    expect(hive.explain("eu").limits.map(({ used }) => used)).toEqual([1, 100]);
    expect(hive.status().leases).toBe(0);
  });

  test("ends with its block", async () => {
    const hive = await hives.alone({ endpoints: [EU] });
    {
      using lease = await hive.acquire({ endpoint: "eu", tokens: 500 });
      expect(lease.endpoint).toBe("eu");
      expect(hive.status().leases).toBe(1);
    }
    expect(hive.status().leases).toBe(0);
    expect(hive.explain("eu").limits.map(({ used }) => used)).toEqual([1, 500]);
  });

  test("stays open when ended with invalid arguments, which throw", async () => {
    const hive = await hives.alone({ endpoints: [EU] });
    const lease = await hive.acquire({ endpoint: "eu", tokens: 500 });
    expect(() => lease.done({ tokens: Number.NaN })).toThrow(expect.objectContaining({ code: "INVALID_CONFIG" }));
    expect(hive.status().leases).toBe(1);
    lease.done({ tokens: 1 });
    expect(hive.explain("eu").limits.map(({ used }) => used)).toEqual([1, 1]);
  });

  test("that is never ended expires; a renewed one has its whole time again", async () => {
    const hive = await hives.alone({ endpoints: [{ id: "eu", maxInFlightPerProcess: 2 }], leaseMs: 10_000 });
    await hive.acquire({ endpoint: "eu" });
    const renewed = await hive.acquire({ endpoint: "eu" });
    await hives.clock.run(9_000);
    renewed.renew();
    await hives.clock.run(1_000);
    expect(hive.status().leases).toBe(1);
    await hives.clock.run(8_999);
    expect(hive.status().leases).toBe(1);
    await hives.clock.run(1);
    expect(hive.status().leases).toBe(0);
    expect(hive.explain("eu").inFlight).toBe(0);
    renewed.renew();
    expect(hive.status().leases).toBe(0);
  });

  test("a hundred thousand dropped leases all expire after their time", async () => {
    const hive = await hives.alone({ endpoints: [{ id: "eu", maxInFlightPerProcess: 200_000 }], leaseMs: 900_000 });
    for (let i = 0; i < 100_000; i++) await hive.acquire({ endpoint: "eu" });
    expect(hive.explain("eu").inFlight).toBe(100_000);
    // One timer serves all leases.
    expect(hives.clock.pending).toBeLessThanOrEqual(2);
    await hives.clock.run(900_001);
    expect(hive.status().leases).toBe(0);
    expect(hive.explain("eu").inFlight).toBe(0);
    expect(hives.clock.pending).toBeLessThanOrEqual(1);
  });

  test("that was refused is refunded, and all agents learn of the refusal", async () => {
    const [first, second] = (await hives.swarm(2, { endpoints: [{ ...EU, rpmLimit: 100 }] })) as [Hive, Hive];
    const updates: string[] = [];
    second.onCapacityChange(({ resource, agentId, newCapacity, reason }) =>
      updates.push(`${resource} ${agentId} ${newCapacity} ${reason}`),
    );
    const lease = await first.acquire({ endpoint: "eu", tokens: 100 });
    lease.refused({ reason: "429 rate_limit_error", retryAfterMs: 3_000 });
    await hives.clock.run(200);
    expect(updates).toEqual(["eu hive-0 50 429 rate_limit_error"]);
    expect(second.explain("eu")).toMatchObject({
      level: 0.5,
      cause: { agentId: "hive-0", reason: "429 rate_limit_error" },
    });
    expect(second.explain("eu").pausedForMs).toBeGreaterThan(2_500);
    expect(second.explain("eu").text).toContain("cut to 50 %");
    expect(first.explain("eu").limits.map(({ used }) => used)).toEqual([0, 0]);
    expect(second.tryAcquire({ endpoint: "eu", tokens: 1 })).toMatchObject({
      allowed: false,
      limitedBy: "swarm-pause",
    });
    await hives.clock.run(3_000);
    expect(second.tryAcquire({ endpoint: "eu", tokens: 1 }).allowed).toBe(true);
  });

  test("that met an overload cuts nothing, and a single overload stops no agent", async () => {
    const hive = await hives.alone({ endpoints: [EU] });
    (await hive.acquire({ endpoint: "eu", tokens: 10 })).refused({
      reason: "529 overloaded",
      kind: "overload",
      retryAfterMs: 2_000,
    });
    expect(hive.explain("eu")).toMatchObject({ level: 1, pausedForMs: 0, availability: { state: "available" } });
    expect(hive.tryAcquire({ endpoint: "eu", tokens: 10 }).allowed).toBe(true);
  });
});

describe("one limit for all", () => {
  const limit = { id: "eu", rpmLimit: 200, tpmLimit: 20_000 };

  test("requests and tokens of all hives together stay within the limit, and use it", async () => {
    const all = await hives.swarm(4, { endpoints: [limit], windowMs: 10_000 });
    const sent: { at: number; tokens: number }[] = [];
    for (const hive of all)
      for (let i = 0; i < 8; i++) void callOn(hive, hives.clock, { endpoint: "eu", tokens: 150 }, sent);
    await hives.clock.run(60_000);
    // The token limit binds: 20,000 tokens allow 133 calls of 150.
    expect(largest(sent, 10_000)).toBeLessThanOrEqual(20_000);
    expect(sent.length).toBeGreaterThan(0.85 * 6 * 133);
  });

  test("nearly the whole limit of an idle hive is available to a busy one", async () => {
    const [busy] = (await hives.swarm(3, { endpoints: [limit], windowMs: 10_000 })) as [Hive];
    const sent: { at: number; tokens: number }[] = [];
    for (let i = 0; i < 20; i++) void callOn(busy, hives.clock, { endpoint: "eu", tokens: 10 }, sent);
    await hives.clock.run(40_000);
    expect(sent.length).toBeGreaterThan(0.85 * 4 * 200);
  });

  test("a hive that leaves sends a goodbye: its share is available at once", async () => {
    const [first, second] = (await hives.swarm(2, { endpoints: [limit], windowMs: 10_000 })) as [Hive, Hive];
    expect(second.explain("eu").limits[0]?.share).toBeLessThan(120);
    await first.close();
    await hives.clock.run(100);
    expect(second.status().members).toBe(1);
    expect(second.explain("eu").limits[0]?.share).toBeGreaterThan(190);
  });

  test("hives that only try get their share too", async () => {
    const [trier, caller] = (await hives.swarm(2, { endpoints: [limit], windowMs: 10_000 })) as [Hive, Hive];
    for (let i = 0; i < 20; i++) void callOn(caller, hives.clock, { endpoint: "eu", tokens: 1 }, []);
    let granted = 0;
    for (let i = 0; i < 800; i++) {
      const { lease } = trier.tryAcquire({ endpoint: "eu", tokens: 1 });
      if (lease) granted++;
      lease?.done();
      await hives.clock.run(50);
    }
    expect(granted).toBeGreaterThan(0.7 * 400);
  });
});

function largest(sent: readonly { at: number; tokens: number }[], windowMs: number): number {
  const sorted = [...sent].sort((a, b) => a.at - b.at);
  let most = 0;
  let sum = 0;
  let first = 0;
  for (const { at, tokens } of sorted) {
    sum += tokens;
    for (let old = sorted[first]; old && old.at <= at - windowMs; old = sorted[first]) {
      sum -= old.tokens;
      first++;
    }
    most = Math.max(most, sum);
  }
  return most;
}

describe("waiting", () => {
  test("an aborted or late wait costs nothing and leaves at once, even from the head", async () => {
    const hive = await hives.alone({ endpoints: [{ id: "eu", rpmLimit: 1 }] });
    await hive.acquire({ endpoint: "eu" });
    const controller = new AbortController();
    const aborted = watch(hive.acquire({ endpoint: "eu", signal: controller.signal }));
    const late = watch(hive.acquire({ endpoint: "eu", timeoutMs: 5_000 }));
    const patient = watch(hive.acquire({ endpoint: "eu" }));
    await hives.clock.run(1_000);
    expect(hive.status().waiting).toBe(3);
    controller.abort(new Error("enough"));
    await hives.clock.run(1);
    expect(aborted.error).toMatchObject({ message: "enough" });
    await hives.clock.run(4_000);
    expect(late.error).toMatchObject({ code: "CAPACITY_EXHAUSTED", reason: "timeout" });
    expect((late.error as { retryAfterMs: number }).retryAfterMs).toBeGreaterThan(50_000);
    expect(hive.status().waiting).toBe(1);
    await hives.clock.run(56_000);
    expect(patient.lease).toBeDefined();
    await expect(hive.acquire({ endpoint: "eu", signal: controller.signal })).rejects.toThrow("enough");
  });

  test("a full queue is an error, and a request without a timeout does not wait", async () => {
    const hive = await hives.alone({ endpoints: [{ id: "eu", rpmLimit: 1 }], maxQueue: 1 });
    await hive.acquire({ endpoint: "eu" });
    await expect(hive.acquire({ endpoint: "eu", timeoutMs: 0 })).rejects.toMatchObject({ reason: "timeout" });
    watch(hive.acquire({ endpoint: "eu" }));
    await hives.clock.run(1);
    await expect(hive.acquire({ endpoint: "eu" })).rejects.toMatchObject({
      code: "CAPACITY_EXHAUSTED",
      reason: "queue-full",
    });
  });

  test("an exhausted key does not delay the others", async () => {
    const hive = await hives.alone({
      endpoints: [{ id: "eu", maxInFlightPerProcess: 1 }],
      keys: { poor: { rpmLimit: 1 } },
    });
    (await hive.acquire({ endpoint: "eu", key: "poor" })).done();
    const first = await hive.acquire({ endpoint: "eu" });
    const poor = watch(hive.acquire({ endpoint: "eu", key: "poor" }));
    const rich = watch(hive.acquire({ endpoint: "eu", key: "rich" }));
    await hives.clock.run(1);
    first.done();
    await hives.clock.run(1);
    expect([poor.lease, rich.lease?.endpoint]).toEqual([undefined, "eu"]);
    rich.lease?.done();
    await hives.clock.run(60_100);
    expect(poor.lease).toBeDefined();
  });

  test("a try is not behind waiters whose key is exhausted", async () => {
    const hive = await hives.alone({ endpoints: [EU], keys: { poor: { rpmLimit: 1 } } });
    await hive.acquire({ endpoint: "eu", key: "poor", tokens: 1 });
    watch(hive.acquire({ endpoint: "eu", key: "poor", tokens: 1 }));
    await hives.clock.run(1);
    expect(hive.tryAcquire({ endpoint: "eu", tokens: 1 }).allowed).toBe(true);
  });

  test("keys alternate, however many requests wait for one of them", async () => {
    const hive = await hives.alone({ endpoints: [{ id: "eu", maxInFlightPerProcess: 1 }] });
    let open = await hive.acquire({ endpoint: "eu" });
    const order: string[] = [];
    const wait = (key: string) =>
      void hive.acquire({ endpoint: "eu", key }).then((lease) => {
        order.push(key);
        open = lease;
      });
    for (let i = 0; i < 4; i++) wait("a");
    for (let i = 0; i < 2; i++) wait("b");
    wait("c");
    for (let i = 0; i < 7; i++) {
      open.done();
      await hives.clock.run(1);
    }
    expect(order).toEqual(["a", "b", "c", "a", "b", "a", "a"]);
  });

  test("a higher priority goes first within its key, and a low one does not starve", async () => {
    const hive = await hives.alone({ endpoints: [{ id: "eu", maxInFlightPerProcess: 1 }] });
    let open = await hive.acquire({ endpoint: "eu" });
    const order: string[] = [];
    const wait = (name: string, priority: number) =>
      void hive.acquire({ endpoint: "eu", priority }).then((lease) => {
        order.push(name);
        open = lease;
      });
    wait("low", 0);
    await hives.clock.run(2_000);
    wait("high", 5);
    await hives.clock.run(4_000);
    wait("late", 5);
    for (let i = 0; i < 3; i++) {
      open.done();
      await hives.clock.run(1);
    }
    expect(order).toEqual(["high", "low", "late"]);
  });

  test("a try does not overtake waiters", async () => {
    const hive = await hives.alone({ endpoints: [EU] });
    const lease = await hive.acquire({ endpoint: "eu", tokens: 900 });
    const large = watch(hive.acquire({ endpoint: "eu", tokens: 500 }));
    await hives.clock.run(1);
    expect(hive.tryAcquire({ endpoint: "eu", tokens: 10 }).allowed).toBe(false);
    lease.cancel();
    await hives.clock.run(1);
    expect(large.lease).toBeDefined();
    expect(hive.tryAcquire({ endpoint: "eu", tokens: 10 }).allowed).toBe(true);
  });
});

describe("a route", () => {
  test("goes to an endpoint with capacity, stays with its session, and avoids endpoints that refused", async () => {
    const hive = await hives.alone({ endpoints: [EU, US] });
    const ends = new Set<string>();
    for (let i = 0; i < 20; i++) ends.add((await hive.acquire({ route: ["eu", "us"], tokens: 1 })).endpoint);
    expect([...ends].sort()).toEqual(["eu", "us"]);
    expect(hive.tryAcquire({ route: ["eu", "us"], tokens: 1 }).allowed).toBe(false);
    await hives.clock.run(61_000);
    const session = { route: ["eu", "us"], tokens: 1, session: "s" };
    const { endpoint } = await hive.acquire(session);
    for (let i = 0; i < 5; i++) expect((await hive.acquire(session)).endpoint).toBe(endpoint);
    const lease = await hive.acquire(session);
    lease.refused({ reason: "429", retryAfterMs: 5_000 });
    const other = endpoint === "eu" ? "us" : "eu";
    expect((await hive.acquire(session)).endpoint).toBe(other);
    expect(hive.route({ candidates: ["eu", "us"], tokens: 1, session: "s" })).toMatchObject({
      endpoint: other,
      allowed: true,
    });
  });

  test("a waiter for one endpoint goes to the other when that has capacity first", async () => {
    const hive = await hives.alone({
      endpoints: [
        { id: "eu", maxInFlightPerProcess: 1 },
        { id: "us", maxInFlightPerProcess: 1 },
      ],
    });
    const held = [await hive.acquire({ endpoint: "eu" }), await hive.acquire({ endpoint: "us" })];
    const waiting = [1, 2].map(() => watch(hive.acquire({ route: ["eu", "us"] })));
    await hives.clock.run(10);
    for (const lease of held) lease.done();
    await hives.clock.run(2_000);
    expect(waiting.map(({ lease }) => lease?.endpoint).sort()).toEqual(["eu", "us"]);
  });
});

describe("observing", () => {
  test("decides, never blocks, and reports the decisions it would have made", async () => {
    const hive = await hives.alone({ endpoints: [EU, US], mode: "observe" });
    const leases = [];
    for (let i = 0; i < 15; i++) leases.push(await hive.acquire({ endpoint: "eu", tokens: 10 }));
    await hive.acquire({ endpoint: "eu", tokens: 5_000 });
    leases[3]?.refused({ reason: "429" });
    leases[12]?.refused({ reason: "429" });
    leases[13]?.refused({ reason: "429" });
    expect(hive.status().observed).toEqual({
      decisions: 16,
      wouldHaveWaited: 5,
      wouldHaveBeenDenied: 1,
      refused: 3,
      wouldHaveBeenAvoided: 2,
    });
    await hive.acquire({ endpoint: "us", tokens: 10 });
    expect(hive.explain("us").observed).toMatchObject({ decisions: 1, wouldHaveWaited: 0, refused: 0 });
    expect(hive.explain("eu").observed).toMatchObject({ decisions: 16, wouldHaveWaited: 5, wouldHaveBeenAvoided: 2 });
    expect(hive.status().observed).toMatchObject({ decisions: 17 });
    const decision = hive.tryAcquire({ endpoint: "eu", tokens: 10 });
    expect(decision).toMatchObject({ allowed: true, reason: "rate", limitedBy: "swarm-pause" });
    expect(decision.lease).toBeDefined();
    expect(hive.status().waiting).toBe(0);
  });
});

describe("reconfigure", () => {
  test("limits rise and fall, and all counts are kept", async () => {
    const hive = await hives.alone({ endpoints: [EU] });
    for (let i = 0; i < 10; i++) await hive.acquire({ endpoint: "eu", tokens: 1 });
    const waiting = watch(hive.acquire({ endpoint: "eu", tokens: 1 }));
    await hives.clock.run(1);
    hive.reconfigure({ endpoints: [{ ...EU, rpmLimit: 12 }] });
    await hives.clock.run(1);
    expect(waiting.lease).toBeDefined();
    expect(hive.tryAcquire({ endpoint: "eu", tokens: 1 }).allowed).toBe(true);
    expect(hive.tryAcquire({ endpoint: "eu", tokens: 1 }).allowed).toBe(false);
    hive.reconfigure({ endpoints: [{ ...EU, rpmLimit: 5 }] });
    expect(hive.tryAcquire({ endpoint: "eu", tokens: 1 }).allowed).toBe(false);
    expect(hive.explain("eu").limits[0]).toMatchObject({ limit: 5, used: 12 });
  });

  test("endpoints and keys are added and removed; waiters of a removed one are rejected", async () => {
    const hive = await hives.alone({ endpoints: [{ ...EU, rpmLimit: 1 }, US] });
    await hive.acquire({ endpoint: "eu", tokens: 1 });
    const waiting = watch(hive.acquire({ endpoint: "eu", tokens: 1 }));
    await hives.clock.run(1);
    hive.reconfigure({ endpoints: [US, { id: "asia", rpmLimit: 1 }], keys: { acme: { rpmLimit: 1 } } });
    await hives.clock.run(1);
    expect(isHivepaceError(waiting.error, "RESOURCE_UNKNOWN")).toBe(true);
    await expect(hive.acquire({ endpoint: "eu", tokens: 1 })).rejects.toMatchObject({ code: "RESOURCE_UNKNOWN" });
    expect(hive.tryAcquire({ endpoint: "asia" }).allowed).toBe(true);
    expect(hive.tryAcquire({ endpoint: "us", key: "acme", tokens: 1 }).allowed).toBe(true);
    expect(hive.tryAcquire({ endpoint: "us", key: "acme", tokens: 1 })).toMatchObject({
      allowed: false,
      limitedBy: "key-rpm",
    });
    hive.reconfigure({ keys: {} });
    expect(hive.tryAcquire({ endpoint: "us", key: "acme", tokens: 1 }).allowed).toBe(true);
  });

  test("a claim on a removed endpoint delays no one else", async () => {
    const limit = { id: "eu", tpmLimit: 10_000 };
    const [first, second] = (await hives.swarm(2, { endpoints: [limit] })) as [Hive, Hive];
    (await second.acquire({ endpoint: "eu", tokens: 4_000 })).done();
    await hives.clock.run(1_000);
    const large = watch(first.acquire({ endpoint: "eu", tokens: 8_000 }));
    await hives.clock.run(1_000);
    expect(second.tryAcquire({ endpoint: "eu", tokens: 1_000 }).allowed).toBe(false);
    first.reconfigure({ endpoints: [US] });
    await hives.clock.run(3_000);
    expect(isHivepaceError(large.error, "RESOURCE_UNKNOWN")).toBe(true);
    expect(second.tryAcquire({ endpoint: "eu", tokens: 1_000 }).allowed).toBe(true);
  });

  test("an invalid option changes nothing", async () => {
    const hive = await hives.alone({ endpoints: [EU] });
    const before = hive.status().endpoints;
    expect(() => hive.reconfigure({ endpoints: [US, { id: "x", rpmLimit: -1 }] })).toThrow(
      expect.objectContaining({ code: "INVALID_CONFIG", option: "endpoints[1].rpmLimit" }),
    );
    expect(hive.status().endpoints).toEqual(before);
  });
});

describe("closing", () => {
  test("rejects all waiters, and refuses later requests", async () => {
    const hive = await hives.alone({ endpoints: [{ id: "eu", rpmLimit: 1 }] });
    await hive.acquire({ endpoint: "eu" });
    const waiting = watch(hive.acquire({ endpoint: "eu" }));
    await hives.clock.run(1);
    await hive.close();
    expect(waiting.error).toMatchObject({ code: "LIMITER_CLOSED" });
    await expect(hive.acquire({ endpoint: "eu" })).rejects.toMatchObject({ code: "LIMITER_CLOSED" });
    expect(() => hive.tryAcquire({ endpoint: "eu" })).toThrow(expect.objectContaining({ code: "LIMITER_CLOSED" }));
    await hive.close();
    expect(hive.status().mode).toBe("closed");
  });

  test("closes a bus and a store that came as promises, and leaves those open that were lent", async () => {
    const open = () => memoryBus(hives.broker, { clock: hives.clock });
    const lent = await open();
    const own = open();
    const store = memorySyncStore({ memory: new SyncMemory(hives.clock) });
    const first = await hives.alone({ endpoints: [EU], bus: lent, namespace: "test" });
    const second = await hives.alone({ endpoints: [EU], bus: own, sync: Promise.resolve(store), namespace: "test" });
    for (const hive of [first, second]) await hive.close();
    expect([lent.state, (await own).state]).toEqual(["ready", "closed"]);
    const report = { namespace: "n", agentId: "a", incarnation: "i", sequence: 1, windowMs: 1_000, window: undefined };
    await expect(store.sync({ ...report, counts: [], watched: [] })).rejects.toMatchObject({ code: "SYNC_CLOSED" });
    await lent.close();
    const late = open();
    await expect(createHive({ endpoints: [{ id: "" }], bus: late })).rejects.toMatchObject({ code: "INVALID_CONFIG" });
    expect((await late).state).toBe("closed");
  });

  test("lets calls under way end, within a bounded time", async () => {
    const slow = await hives.alone({ endpoints: [EU] });
    await slow.acquire({ endpoint: "eu", tokens: 1 });
    let isClosed = false;
    void slow.close({ drainMs: 5_000 }).then(() => {
      isClosed = true;
    });
    await hives.clock.run(4_000);
    expect(isClosed).toBe(false);
    await hives.clock.run(1_001);
    expect(isClosed).toBe(true);
    const quick = await hives.alone({ endpoints: [EU] });
    const lease = await quick.acquire({ endpoint: "eu", tokens: 1 });
    const closing = quick.close({ drainMs: 5_000 });
    lease.done();
    await closing;
  });
});

describe("a promised bus or store", () => {
  /** Opens a bus and a store that append their names to `closed` when they are closed. */
  const opened = async (closed: string[], bus = "bus", store = "store") => {
    const real = { bus: await memoryBus(hives.broker, { clock: hives.clock }), store: memorySyncStore() };
    const noting = <T extends MessageBus | SyncStore>(it: T, name: string): T =>
      new Proxy(it, {
        get(target, property) {
          const value: unknown = Reflect.get(target, property);
          if (typeof value !== "function") return value;
          return (...args: unknown[]) => {
            if (property === Symbol.asyncDispose) closed.push(name);
            return value.apply(target, args);
          };
        },
      });
    return { bus: noting(real.bus, bus), store: noting(real.store, store) };
  };

  test("is closed with the hive, after the goodbye: first the store, then the bus; lent ones stay open", async () => {
    const other = await hives.join({ endpoints: [EU] });
    const order: string[] = [];
    const { bus, store } = await opened(order);
    const options = { endpoints: [EU], namespace: "test", clock: hives.clock, agentId: "leaver" };
    const hive = await createHive({ ...options, bus: Promise.resolve(bus), sync: Promise.resolve(store) });
    await hives.clock.run(3_000);
    expect(other.status().members).toBe(2);
    await hive.close();
    await hives.clock.run(100);
    expect(order).toEqual(["store", "bus"]);
    expect(other.status().members).toBe(1);

    const lent = await opened(order, "lent bus", "lent store");
    const borrower = await createHive({ ...options, bus: lent.bus, sync: lent.store });
    await borrower.close();
    expect(order).toEqual(["store", "bus"]);
    expect(lent.bus.state).toBe("ready");
    await lent.bus.close();
  });

  test("is closed when the other one fails, and no rejection is unhandled", async () => {
    const unhandled: unknown[] = [];
    const note = (reason: unknown) => unhandled.push(reason);
    process.on("unhandledRejection", note);
    const order: string[] = [];
    const { bus, store } = await opened(order);
    const endpoints = [EU];
    const refused = (what: string) => Promise.reject(new Error(what));
    const late = async <T>(it: T): Promise<T> => {
      await new Promise(setImmediate);
      return it;
    };
    await expect(createHive({ endpoints, bus: refused("no bus"), sync: late(store) })).rejects.toThrow("no bus");
    expect(order).toEqual(["store"]);
    await expect(createHive({ endpoints, bus: late(bus), sync: refused("no store") })).rejects.toThrow("no store");
    expect(order).toEqual(["store", "bus"]);
    await expect(createHive({ endpoints, bus: refused("no bus"), sync: refused("either") })).rejects.toThrow("no bus");
    await new Promise(setImmediate);
    process.off("unhandledRejection", note);
    expect(unhandled).toEqual([]);
  });

  test("is closed when an option is invalid, and nothing has begun", async () => {
    for (const wrong of [
      { endpoints: 7 },
      { strategy: "best" },
      { endpoints: [{ id: "x".repeat(300), rpmLimit: 1 }] },
    ]) {
      const order: string[] = [];
      const { bus, store } = await opened(order);
      const options = { endpoints: [EU], clock: hives.clock, bus: Promise.resolve(bus), sync: Promise.resolve(store) };
      await expect(createHive({ ...options, ...wrong } as never)).rejects.toMatchObject({ code: "INVALID_CONFIG" });
      expect(order).toEqual(["store", "bus"]);
      expect(hives.clock.pending).toBe(0);
    }
  });
});

describe("learning from answers", () => {
  const says = (limit: number, remaining: number, windowMs?: number) => ({
    endpoint: "eu",
    limits: { requests: { limit, remaining, windowMs } },
  });

  test("a limit that is not configured is learned, and follows changes", async () => {
    const hive = await hives.alone({ endpoints: [{ id: "eu" }] });
    await hive.acquire({ endpoint: "eu" });
    hive.observe(says(5, 4));
    let granted = 0;
    while (hive.tryAcquire({ endpoint: "eu" }).allowed) granted++;
    expect(granted).toBe(4);
    expect(hive.explain("eu").limits).toMatchObject([{ dimension: "requests", limit: 5, isLearned: true }]);
    hive.observe(says(7, 2));
    expect(hive.tryAcquire({ endpoint: "eu" }).allowed).toBe(true);
    expect(hive.tryAcquire({ endpoint: "eu" }).allowed).toBe(true);
    expect(hive.tryAcquire({ endpoint: "eu" }).allowed).toBe(false);
  });

  test("calls under way before the first answer count, with their final usage", async () => {
    const hive = await hives.alone({ endpoints: [{ id: "eu" }] });
    const leases = [];
    for (let i = 0; i < 8; i++) leases.push(await hive.acquire({ endpoint: "eu", tokens: 50 }));
    leases[0]?.cancel();
    hive.observe({ endpoint: "eu", limits: { requests: { limit: 1_000, remaining: 999 }, tokens: { limit: 9_000 } } });
    expect(hive.explain("eu").limits.map(({ used }) => used)).toEqual([7, 350]);
    leases[1]?.cancel();
    leases[2]?.done({ tokens: 80 });
    expect(hive.explain("eu").limits.map(({ used }) => used)).toEqual([6, 330]);
    await hives.clock.run(61_000);
    expect(hive.explain("eu").limits.map(({ used }) => used)).toEqual([0, 0]);
  });

  test("a limit of a day stays a limit of a day, beside those of a minute", async () => {
    const hive = await hives.alone({ endpoints: [{ id: "eu", tpmLimit: 1_000 }] });
    hive.observe(says(3, 3, 86_400_000));
    for (let i = 0; i < 3; i++) expect(hive.tryAcquire({ endpoint: "eu", tokens: 1 }).allowed).toBe(true);
    await hives.clock.run(3_600_000);
    expect(hive.tryAcquire({ endpoint: "eu", tokens: 1 })).toMatchObject({ allowed: false, limitedBy: "swarm-rpm" });
    // The denied request gave back the tokens that it had taken from the minute's limit.
    expect(hive.explain("eu").limits.find(({ dimension }) => dimension === "tokens")?.used).toBe(0);
    await hives.clock.run(86_400_000);
    expect(hive.tryAcquire({ endpoint: "eu", tokens: 1 }).allowed).toBe(true);
  });

  test.each([-1, 0, Number.NaN, Infinity])("a limit of %d is ignored", async (limit) => {
    const hive = await hives.alone({ endpoints: [{ id: "eu" }] });
    hive.observe(says(limit, 0));
    for (let i = 0; i < 100; i++) expect(hive.tryAcquire({ endpoint: "eu" }).allowed).toBe(true);
  });

  test("usage outside the swarm lowers the available capacity", async () => {
    const hive = await hives.alone({ endpoints: [{ id: "eu", rpmLimit: 100 }] });
    await hive.acquire({ endpoint: "eu" });
    hive.observe(says(100, 39));
    let granted = 0;
    while (hive.tryAcquire({ endpoint: "eu" }).allowed) granted++;
    expect(granted).toBe(39);
    // The same answer again changes nothing.
    hive.observe(says(100, 0));
    expect(hive.explain("eu").limits[0]?.used).toBe(100);
  });

  test("usage that an agent reports shortly after the provider is not counted twice", async () => {
    const [first, second] = (await hives.swarm(2, { endpoints: [{ id: "eu", rpmLimit: 100 }] })) as [Hive, Hive];
    await hives.clock.run(5_000);
    for (let i = 0; i < 30; i++) await second.acquire({ endpoint: "eu" });
    // Ten calls of an unrelated user, and thirty that no message has reported to the first hive yet.
    first.observe(says(100, 60));
    expect(first.explain("eu").limits[0]?.used).toBe(40);
    await hives.clock.run(3_000);
    expect(first.explain("eu").limits[0]?.used).toBe(40);
    expect(second.explain("eu").limits[0]?.used).toBe(30);
    for (let i = 0; i < 5; i++) await second.acquire({ endpoint: "eu" });
    await hives.clock.run(3_000);
    expect(first.explain("eu").limits[0]?.used).toBe(45);
  });

  test("a provider that counts a request on arrival may count it slightly longer than this agent", async () => {
    const hive = await hives.alone({ endpoints: [{ id: "eu", rpmLimit: 100 }] });
    for (let i = 0; i < 100; i++) await hive.acquire({ endpoint: "eu" });
    await hives.clock.run(60_100);
    await hive.acquire({ endpoint: "eu" });
    hive.observe(says(100, 0));
    expect(hive.explain("eu").limits[0]?.used).toBe(1);
    await hives.clock.run(5_000);
    hive.observe(says(100, 0));
    expect(hive.explain("eu").limits[0]?.used).toBe(100);
  });

  test("a refusal of a request that was denied and sent anyway, in observe mode, cuts nothing", async () => {
    const hive = await hives.alone({ endpoints: [{ id: "eu", rpmLimit: 10 }], mode: "observe" });
    const granted = await hive.acquire({ endpoint: "eu" });
    for (let i = 1; i < 10; i++) await hive.acquire({ endpoint: "eu" });
    const denied = await hive.acquire({ endpoint: "eu" });
    denied.refused({ reason: "429" });
    expect(hive.explain("eu").level).toBe(1);
    granted.refused({ reason: "429" });
    expect(hive.explain("eu").level).toBeLessThan(1);
  });

  test("an answer that shows the whole limit keeps a measured cut: the cause may be a limit that is not shown", async () => {
    const hive = await hives.alone({ endpoints: [{ id: "eu", rpmLimit: 100 }] });
    (await hive.acquire({ endpoint: "eu" })).refused({ reason: "429" });
    await hives.clock.run(7_000);
    hive.observe(says(100, 100));
    expect(hive.explain("eu").level).toBe(0.5);
    await hives.clock.run(20_000);
    expect(hive.explain("eu").level).toBe(1);
  });

  test("an answer after a long call describes the time when its request was sent", async () => {
    const hive = await hives.alone({ endpoints: [{ id: "eu", rpmLimit: 100 }] });
    for (let i = 0; i < 100; i++) await hive.acquire({ endpoint: "eu" });
    await hives.clock.run(80_000);
    hive.observe({ ...says(100, 0), sentAgoMs: 80_000 });
    hive.observe({ ...says(100, 0), sentAgoMs: 30_000 });
    expect(hive.explain("eu").limits[0]?.used).toBe(0);
    hive.observe({ ...says(100, 0), sentAgoMs: 10_000 });
    expect(hive.explain("eu").limits[0]?.used).toBe(100);

    const cut = await hives.alone({ endpoints: [{ id: "eu", rpmLimit: 100 }], recovery: "stepped" });
    (await cut.acquire({ endpoint: "eu" })).refused({ reason: "429" });
    await hives.clock.run(20_000);
    cut.observe({ ...says(100, 99), sentAgoMs: 20_000 });
    expect(cut.explain("eu").level).toBe(0.5);
    cut.observe({ ...says(100, 99), sentAgoMs: 10_000 });
    expect(cut.explain("eu").level).toBe(1);
  });

  test.each([
    ["for all where messages are signed", "a secret of the whole swarm", 1],
    ["and only for the agent that receives it where they are not", undefined, 0.5],
  ])("an answer that shows the whole limit ends a recovery in steps, %s", async (_, secret, level) => {
    const options = { endpoints: [{ id: "eu", rpmLimit: 100 }], recovery: "stepped", secret } as const;
    const [first, second] = (await hives.swarm(2, options)) as [Hive, Hive];
    (await first.acquire({ endpoint: "eu" })).refused({ reason: "429" });
    await hives.clock.run(1_000);
    first.observe(says(100, 100));
    // Too early for a decision.
    expect(first.explain("eu").level).toBe(0.5);
    await hives.clock.run(6_000);
    first.observe(says(50, 50));
    expect(first.explain("eu").level).toBe(0.5);
    first.observe(says(100, 100));
    expect(first.explain("eu").level).toBe(1);
    await hives.clock.run(300);
    expect(second.explain("eu").level).toBe(level);
    second.observe(says(100, 100));
    expect(second.explain("eu").level).toBe(1);
  });
});

test("an invalid option is named", async () => {
  for (const [options, option] of [
    [{}, "endpoints"],
    [{ endpoints: [{ id: "" }] }, "endpoints[0].id"],
    [{ endpoints: [], keys: { a: { rpmLimit: -1 } } }, "keys.a.rpmLimit"],
    [{ endpoints: [], mode: "maybe" }, "mode"],
    [{ endpoints: [], leaseMs: 0 }, "leaseMs"],
    [{ endpoints: [], bus: {} }, "bus"],
    [{ endpoints: [], bus: "nats://localhost" }, "bus"],
    [{ endpoints: [], bus: null }, "bus"],
    [{ endpoints: [], bus: Promise.resolve({}) }, "bus"],
    [{ endpoints: [], sync: {} }, "sync"],
    [{ endpoints: [], sync: "redis://localhost" }, "sync"],
    [{ endpoints: [], weight: 0 }, "weight"],
    [{ endpoints: [], strategy: "best" }, "strategy"],
  ] as const)
    await expect(createHive(options as never), option).rejects.toMatchObject({ option });
});

test("an agent that has never received a message keeps to its part, and explains the wait", async () => {
  const real = await memoryBus(hives.broker, { clock: hives.clock });
  const bus = new Proxy(real, {
    get(target, property) {
      if (property === "publish") return () => Promise.reject(new Error("away"));
      if (property === "subscribe") return () => new Promise(() => {});
      const value: unknown = Reflect.get(target, property);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  const opening = hives.alone({ endpoints: [{ id: "eu", rpmLimit: 40 }], bus, expectedAgents: 4 });
  await hives.clock.run(5_000);
  const hive = await opening;
  expect(hive.status().mode).toBe("joining");
  expect(hive.explain("eu").text).toContain("this agent is new and listens");
  expect(hive.explain("eu").limits).toMatchObject([{ limit: 40, share: 0 }]);
  await hives.clock.run(5_000);
  expect(hive.status().mode).toBe("isolated");
  expect(hive.explain("eu").limits).toMatchObject([{ limit: 40, share: 10 }]);
  let granted = 0;
  while (hive.tryAcquire({ endpoint: "eu" }).allowed) granted++;
  expect(granted).toBe(10);
  expect(hive.tryAcquire({ endpoint: "eu" }).retryAfterMs).toBeGreaterThan(55_000);
  expect(hive.explain("eu").text).toContain("this agent does not hear the others and keeps to its part");
  expect(hive.explain("eu").freesInMs).toBeGreaterThan(55_000);
  await hives.clock.run(61_000);
  expect(hive.explain("eu").freesInMs).toBe(0);
  await hive.close();
  await real.close();
});

test("an agent whose messages the bus refuses warns once", async () => {
  const real = await memoryBus(hives.broker, { clock: hives.clock });
  const bus = new Proxy(real, {
    get(target, property) {
      if (property === "publish") return () => Promise.reject(new Error("not allowed"));
      const value: unknown = Reflect.get(target, property);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  const hive = await hives.alone({ endpoints: [EU], bus, expectedAgents: 1, heartbeatIntervalMs: 1_000 });
  await hives.clock.run(30_000);
  expect(hive.status().unpublished).toBeGreaterThan(5);
  expect(warnings.codes.filter((code) => code === "HIVEPACE_PUBLISH_FAILED")).toHaveLength(1);
  expect(hive.status().lastFailure).toContain("not allowed");
  await hive.close();
  await real.close();
});

test("a default namespace is a warning", async () => {
  const bus = memoryBus(hives.broker, { clock: hives.clock });
  vi.stubEnv("VITEST", "");
  vi.stubEnv("NODE_ENV", "");
  vi.stubEnv("HIVEPACE_TEST_NAMESPACE", "");
  try {
    await hives.alone({ endpoints: [EU], bus, expectedAgents: 1 });
  } finally {
    vi.unstubAllEnvs();
  }
  await hives.clock.run(1);
  expect(warnings.codes.sort()).toEqual(["HIVEPACE_NAMESPACE_GUESSED"]);
});
