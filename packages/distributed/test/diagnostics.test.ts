import { memoryBus } from "@hivepace/bus";
import type { DiagnosticEvents } from "@hivepace/core";
import { memorySyncStore, SyncMemory } from "@hivepace/core/testing";
import { type Heard, hear, bytes as toBytes } from "@hivepace/test-kit";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { CAPACITY_SUBJECT } from "../src/wire/subjects.ts";
import { TestHives, watch } from "./support/hives.ts";
import { HookedAllocator } from "./support/hooked-allocator.ts";
import { RESOURCE, type TestAgent, TestSwarm } from "./support/swarm.ts";

const NAMES = [
  "hivepace:granted",
  "hivepace:denied",
  "hivepace:waiting",
  "hivepace:waited",
  "hivepace:ended",
  "hivepace:announced",
  "hivepace:level",
  "hivepace:member",
  "hivepace:published",
  "hivepace:received",
  "hivepace:ignored",
  "hivepace:synced",
] as const;

let heard: Heard<DiagnosticEvents>;
const forget = (): void => {
  heard[Symbol.dispose]();
  heard = hear<DiagnosticEvents>(NAMES);
};
beforeEach(() => {
  heard = hear<DiagnosticEvents>(NAMES);
});
afterEach(() => heard[Symbol.dispose]());

describe.each(["fair", "none"] as const)("a distributed limiter (sharing: %s)", (sharing) => {
  test("publishes its decisions and waits, with agent and limit", async () => {
    const swarm = new TestSwarm();
    const [{ limiter }] = (await swarm.start(1, 10, 10_000, { sharing })) as [TestAgent];
    limiter.tryAcquire(RESOURCE, 10);
    limiter.tryAcquire(RESOURCE);
    const wait = limiter.acquire(RESOURCE);
    await swarm.clock.run(11_000);
    await wait;
    const one = { source: "distributed-limiter", agentId: "agent-0", resource: RESOURCE, cost: 1 };
    expect(heard.of("hivepace:granted")).toEqual([{ ...one, cost: 10 }, one]);
    expect(heard.of("hivepace:denied")).toEqual([{ ...one, reason: "no-tokens", limitedBy: "capacity" }]);
    expect(heard.of("hivepace:waiting")).toMatchObject([{ ...one, limitedBy: "capacity" }]);
    expect(heard.of("hivepace:waited")).toMatchObject([{ ...one, limitedBy: "capacity", outcome: "granted" }]);

    limiter.announceReduced(RESOURCE, "429", { retryAfterMs: 5_000 });
    limiter.tryAcquire(RESOURCE);
    expect(heard.of("hivepace:announced")).toMatchObject([{ agentId: "agent-0", reason: "429", retryAfterMs: 5_000 }]);
    expect(heard.of("hivepace:denied")[1]).toMatchObject({ limitedBy: "swarm-pause" });
    expect(limiter.status().resources).toMatchObject([{ resource: RESOURCE, inFlight: 2, waiting: 0 }]);
    await swarm.close();
  });
});

test("a level is published at every agent: origin and reason of the cut, the pause, each step of the recovery", async () => {
  const swarm = new TestSwarm();
  const [a, b] = (await swarm.start(2, 100, 10_000, { recoveryIntervalMs: 1_000 })) as [TestAgent, TestAgent];
  await swarm.clock.run(1_000);
  a.limiter.announceReduced(RESOURCE, "429");
  await swarm.clock.run(100);
  const cut = { resource: RESOURCE, cause: "cut", level: 0.5, before: 1, total: 50, by: "agent-0", reason: "429" };
  expect(heard.of("hivepace:level")).toMatchObject([
    { ...cut, agentId: "agent-0", pausedForMs: 500 },
    { ...cut, agentId: "agent-1" },
  ]);
  b.limiter.announceReduced(RESOURCE, "again");
  await swarm.clock.run(100);
  expect(heard.of("hivepace:level").slice(2)).toMatchObject([
    { agentId: "agent-1", cause: "pause", level: 0.5, by: "agent-1", reason: "again" },
    { agentId: "agent-0", cause: "pause", level: 0.5, by: "agent-1", reason: "again" },
  ]);
  await swarm.clock.run(10_000);
  const rest = heard.of("hivepace:level").slice(4);
  expect(new Set(rest.map(({ cause }) => cause))).toEqual(new Set(["recovery"]));
  expect(rest.at(-1)).toMatchObject({ level: 1, total: 100, reason: "recovery" });
  await swarm.close();
});

test("an agent with a smaller limit lowers the limit of all, and the change is published", async () => {
  const swarm = new TestSwarm();
  const [a, b] = (await swarm.start(2)) as [TestAgent, TestAgent];
  b.limiter.setCapacity(RESOURCE, 60, 10_000);
  await swarm.clock.run(3_000);
  expect(heard.of("hivepace:level")).toMatchObject([
    { agentId: a.limiter.agentId, cause: "limit", level: 1, total: 60, by: b.limiter.agentId },
  ]);
  await swarm.close();
});

test("agents that join, leave and fall silent are published once each", async () => {
  const swarm = new TestSwarm();
  const [a, b, c] = (await swarm.start(3)) as [TestAgent, TestAgent, TestAgent];
  const ofA = () =>
    heard
      .of("hivepace:member")
      .filter(({ agentId }) => agentId === a.limiter.agentId)
      .map(({ member, change, members }) => `${member} ${change} ${members}`);
  expect(ofA()).toEqual(["agent-1 joined 2", "agent-2 joined 3"]);
  await b.limiter.close();
  await swarm.clock.run(1_000);
  expect(ofA().slice(2)).toEqual(["agent-1 left 2"]);
  await c.bus.close();
  await swarm.clock.run(30_000);
  expect(ofA().slice(3)).toEqual(["agent-2 silent 1"]);
  await swarm.clock.run(300_000);
  expect(ofA().slice(4)).toEqual([]);
  await swarm.close();
});

test("members from before the subscription are not published as joined", async () => {
  heard[Symbol.dispose]();
  const swarm = new TestSwarm();
  await swarm.start(3);
  heard = hear<DiagnosticEvents>(NAMES);
  await swarm.clock.run(5_000);
  expect(heard.of("hivepace:member")).toEqual([]);
  await swarm.close();
});

test("changes without a subscriber are not published later", async () => {
  const swarm = new TestSwarm();
  const [, b] = (await swarm.start(3)) as [TestAgent, TestAgent, TestAgent];
  heard[Symbol.dispose]();
  await b.limiter.close();
  await swarm.clock.run(3_000);
  heard = hear<DiagnosticEvents>(NAMES);
  await swarm.clock.run(5_000);
  expect(heard.of("hivepace:member")).toEqual([]);
  await swarm.close();
});

test("messages are published as they are sent and received, and ignored ones with the reason", async () => {
  const swarm = new TestSwarm();
  const [a] = (await swarm.start(2)) as [TestAgent, TestAgent];
  forget();
  await swarm.clock.run(10_000);
  expect(heard.of("hivepace:ignored")).toEqual([]);
  expect(heard.of("hivepace:published")).toContainEqual({
    source: "distributed-limiter",
    agentId: "agent-0",
    message: "presence",
    bytes: expect.any(Number),
    error: undefined,
  });
  const bytes = ({ bytes }: { bytes: number }) => bytes > 0;
  expect(heard.of("hivepace:published").every(bytes) && heard.of("hivepace:received").every(bytes)).toBe(true);
  // Each agent receives the messages of both, including its own.
  expect(heard.of("hivepace:received").length).toBe(2 * heard.of("hivepace:published").length);

  forget();
  a.limiter.announceReduced(RESOURCE, "429");
  await swarm.clock.run(10);
  const announcements = (name: "hivepace:published" | "hivepace:received") =>
    heard.of(name).filter(({ message }) => message === "announcement").length;
  expect([announcements("hivepace:published"), announcements("hivepace:received")]).toEqual([1, 2]);

  forget();
  const stranger = await memoryBus(swarm.broker, { clock: swarm.clock });
  await stranger.publish(CAPACITY_SUBJECT, toBytes("{"));
  await swarm.clock.run(10);
  expect(heard.of("hivepace:ignored")).toMatchObject([
    { agentId: "agent-0", message: "announcement", reason: "no JSON" },
    { agentId: "agent-1", message: "announcement", reason: "no JSON" },
  ]);
  await stranger.close();
  await swarm.close();
});

test("messages that the engine ignores are published, too", async () => {
  const swarm = new TestSwarm();
  const [a] = (await swarm.start(2)) as [TestAgent, TestAgent];
  a.limiter.setCapacity(RESOURCE, 10, 20_000);
  await swarm.clock.run(2_000);
  const ignored = heard.of("hivepace:ignored");
  expect(ignored[0]).toEqual({
    source: "distributed-limiter",
    agentId: "agent-1",
    message: "presence",
    reason: "other limits",
  });
  expect(ignored.length).toBe(swarm.agents[1]?.limiter.status().ignored["other limits"]);
  await swarm.close();
});

test("a message that the bus refuses is published with its error", async () => {
  const swarm = new TestSwarm();
  await swarm.start(1);
  swarm.broker.stop();
  forget();
  await swarm.clock.run(6_000);
  expect(heard.of("hivepace:published").length).toBeGreaterThan(0);
  for (const { error } of heard.of("hivepace:published")) expect(error).toMatchObject({ code: "BUS_UNAVAILABLE" });
  swarm.broker.start();
  await swarm.close();
});

describe("a hive", () => {
  const endpoints = [
    { id: "eu", rpmLimit: 2, tpmLimit: 1_000 },
    { id: "us", models: ["claude", "gpt"], rpmLimit: 5 },
  ];

  test("publishes each decision once, and a lease until its end", async () => {
    const world = new TestHives();
    const hive = await world.alone({ endpoints, leaseMs: 10_000, maxQueue: 1 });
    const eu = { source: "hive", agentId: "hive-0", resource: "eu", model: undefined };
    const us = { ...eu, resource: "us", model: "claude" };
    const leases = [
      await hive.acquire({ endpoint: "eu", tokens: 100 }),
      await hive.acquire({ endpoint: "us", model: "gpt", tokens: 30 }),
      await hive.acquire({ endpoint: "us", model: "gpt", tokens: 40 }),
      await hive.acquire({ endpoint: "us", model: "gpt", tokens: 50 }),
    ];
    expect(heard.of("hivepace:granted")).toEqual([
      { ...eu, cost: 100 },
      { ...us, cost: 30 },
      { ...us, cost: 40 },
      { ...us, cost: 50 },
    ]);
    expect(hive.tryAcquire({ endpoint: "eu", tokens: 950 }).allowed).toBe(false);
    expect(hive.tryAcquire({ endpoint: "eu", tokens: 2_000 }).allowed).toBe(false);
    await expect(hive.acquire({ endpoint: "eu", tokens: 950, timeoutMs: 0 })).rejects.toMatchObject({});
    const waiting = watch(hive.acquire({ endpoint: "eu", tokens: 950 }));
    await expect(hive.acquire({ endpoint: "eu", tokens: 950 })).rejects.toMatchObject({});
    expect(heard.of("hivepace:denied")).toEqual([
      { ...eu, cost: 950, reason: "no-tokens", limitedBy: "endpoint-tpm" },
      { ...eu, cost: 2_000, reason: "too-large", limitedBy: "endpoint-tpm" },
      { ...eu, cost: 950, reason: "timeout", limitedBy: "endpoint-tpm" },
      { ...eu, cost: 950, reason: "queue-full", limitedBy: "endpoint-tpm" },
    ]);

    await world.clock.run(1_000);
    leases[0]?.done({ tokens: 70 });
    leases[1]?.cancel();
    leases[2]?.refused({ reason: "429" });
    await world.clock.run(120_000);
    expect(heard.of("hivepace:ended")).toEqual([
      { ...eu, how: "done", heldMs: 1_000, tokens: 70 },
      { ...us, how: "cancelled", heldMs: 1_000, tokens: 0 },
      { ...us, how: "refused", heldMs: 1_000, tokens: 0 },
      { ...us, how: "expired", heldMs: 10_000, tokens: 50 },
      { ...eu, how: "expired", heldMs: 10_000, tokens: 950 },
    ]);
    expect(heard.of("hivepace:announced")).toMatchObject([{ ...us, reason: "429", sentAgoMs: 1_000 }]);
    expect(heard.of("hivepace:level")[0]).toMatchObject({ ...us, cause: "cut", reason: "429" });
    const [begun] = heard.of("hivepace:waiting");
    expect(begun).toMatchObject({ ...eu, cost: 950, limitedBy: "endpoint-tpm" });
    expect(heard.of("hivepace:waited")).toEqual([
      { ...begun, wait: expect.any(Object), waitedMs: expect.any(Number), outcome: "granted", lease: waiting.lease },
    ]);
    expect(heard.of("hivepace:waited")[0]?.wait).toBe(begun?.wait);
    await world.close();
  });

  test("in observe mode publishes the decisions it would have made", async () => {
    const world = new TestHives();
    const hive = await world.alone({ endpoints, mode: "observe" });
    for (let i = 0; i < 3; i++) await hive.acquire({ endpoint: "eu", tokens: 1 });
    await hive.acquire({ endpoint: "eu", tokens: 2_000 });
    expect(heard.of("hivepace:granted").map(({ wouldHave, limitedBy }) => [wouldHave, limitedBy])).toEqual([
      [undefined, undefined],
      [undefined, undefined],
      ["waited", "endpoint-rpm"],
      ["been-denied", "endpoint-tpm"],
    ]);
    await world.close();
  });

  test("publishes that a provider's own numbers have ended a recovery", async () => {
    const world = new TestHives();
    const hive = await world.alone({ endpoints, recovery: "stepped" });
    await world.clock.run(1_000);
    hive.announceReduced("eu", "429");
    await world.clock.run(6_000);
    hive.observe({ endpoint: "eu", limits: { requests: { limit: 2, remaining: 2, windowMs: 60_000 } } });
    expect(heard.of("hivepace:level").map(({ cause, level }) => [cause, level])).toEqual([
      ["cut", 0.5],
      ["restored", 1],
    ]);
    await world.close();
  });

  test("publishes each sync with its duration, or the reason of its failure", async () => {
    const world = new TestHives();
    const store = new HookedAllocator(memorySyncStore({ memory: new SyncMemory(world.clock) }));
    const options = { endpoints, sync: store, namespace: "test", agentId: "a", aggregation: "bus" } as const;
    const hive = await world.alone(options);
    await world.clock.run(100);
    const view = { source: "global-view", agentId: "a", operation: "sync", durationMs: 0, ageMs: 0, error: undefined };
    expect(heard.of("hivepace:synced")).toEqual([{ ...view, sent: 0 }]);
    hive.tryAcquire({ endpoint: "eu", tokens: 10 });
    await world.clock.run(2_000);
    expect(heard.of("hivepace:synced")).toContainEqual({ ...view, sent: 1 });
    await store.close();
    forget();
    await world.clock.run(5_000);
    const [failed] = heard.of("hivepace:synced");
    expect(failed?.error).toMatchObject({ code: "SYNC_CLOSED" });
    expect(failed?.ageMs).toBeGreaterThan(0);
    await world.close();
  });

  test("publishes each request to a store for a grant", async () => {
    const world = new TestHives();
    const store = new HookedAllocator(memorySyncStore({ memory: new SyncMemory(world.clock) }));
    await world.alone({ endpoints, sync: store, aggregation: "store", namespace: "test" });
    await world.clock.run(2_000);
    const shares = () => heard.of("hivepace:synced").filter(({ operation }) => operation === "share");
    expect(shares()[0]).toEqual({
      source: "hive",
      agentId: "hive-0",
      operation: "share",
      durationMs: 0,
      sent: 2,
      ageMs: 0,
      error: undefined,
    });
    store.fails = () => true;
    forget();
    await world.clock.run(5_000);
    expect(shares()[0]?.error).toMatchObject({ code: "SYNC_UNAVAILABLE" });
    expect(shares()[0]?.ageMs).toBeGreaterThan(0);
    await world.close();
  });
});
