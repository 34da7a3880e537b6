import { channel } from "node:diagnostics_channel";
import { channelNames, MemoryLimiter, RateManager } from "@hivepace/core";
import { ManualClock } from "@hivepace/core/testing";
import { startGlobalView } from "@hivepace/distributed";
import { createLimitedFetch } from "@hivepace/fetch";
import { DiagLogLevel, diag } from "@opentelemetry/api";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { eventMetrics, statusMetrics } from "../src/catalogue.ts";
import { type Instrumentation, instrumentHivepace, type OtelOptions } from "../src/index.ts";
import { TestMetrics } from "./support/telemetry.ts";
import { TestWorld } from "./support/world.ts";

let metrics: TestMetrics;
let world: TestWorld;
let running: Instrumentation | undefined;
beforeEach(() => {
  metrics = new TestMetrics();
  world = new TestWorld();
});
afterEach(async () => {
  running?.stop();
  running = undefined;
  await world.close();
  await metrics.close();
});

function instrument(options: OtelOptions = {}): Instrumentation {
  running = instrumentHivepace({ meterProvider: metrics.provider, traces: false, ...options });
  return running;
}

const eu = { source: "hive", resource: "eu" };

describe("decisions and waits", () => {
  test("each request is counted once as granted, denied or aborted, with the limit that applied", async () => {
    instrument();
    const hive = await world.hive("a", { bus: undefined, maxQueue: 2 });
    for (let i = 0; i < 3; i++) (await hive.acquire({ endpoint: "eu", tokens: 300 })).done();
    hive.tryAcquire({ endpoint: "eu", tokens: 300 });
    hive.tryAcquire({ endpoint: "eu", tokens: 5_000 });
    const aborting = new AbortController();
    const waits = [
      hive.acquire({ endpoint: "eu", tokens: 300 }),
      hive.acquire({ endpoint: "eu", tokens: 300, signal: aborting.signal }).catch(() => {}),
    ];
    await hive.acquire({ endpoint: "eu", tokens: 300 }).catch(() => {});
    aborting.abort();
    waits.push(hive.acquire({ endpoint: "eu", tokens: 300, timeoutMs: 1_000 }).catch(() => {}));
    await world.clock.run(61_000);
    await Promise.all(waits);

    const limited = { limited_by: "endpoint-tpm" };
    const decisions = await metrics.of("hivepace.decisions");
    expect(decisions).toEqual(
      expect.arrayContaining([
        { attributes: { ...eu, outcome: "granted" }, value: 4 },
        { attributes: { ...eu, ...limited, outcome: "denied", reason: "no_tokens" }, value: 1 },
        { attributes: { ...eu, ...limited, outcome: "denied", reason: "too_large" }, value: 1 },
        { attributes: { ...eu, ...limited, outcome: "denied", reason: "queue_full" }, value: 1 },
        { attributes: { ...eu, ...limited, outcome: "denied", reason: "timeout" }, value: 1 },
        { attributes: { ...eu, ...limited, outcome: "aborted" }, value: 1 },
      ]),
    );
    expect(decisions.reduce((sum, { value }) => sum + value, 0)).toBe(9);
    const waited = await metrics.of("hivepace.wait.duration");
    expect(waited).toEqual(
      expect.arrayContaining([
        { attributes: { ...eu, ...limited, outcome: "timeout" }, value: 1, sum: 1 },
        { attributes: { ...eu, ...limited, outcome: "aborted" }, value: 1, sum: 0 },
        { attributes: { ...eu, ...limited, outcome: "granted" }, value: 1, sum: expect.any(Number) },
      ]),
    );
    const granted = waited.find(({ attributes }) => attributes["outcome"] === "granted");
    expect(granted?.sum).toBeGreaterThan(1);
    expect(granted?.sum).toBeLessThan(61);
  });

  test("a hive in observe mode counts the decisions that it would have made", async () => {
    instrument();
    const hive = await world.hive("a", { bus: undefined, mode: "observe" });
    for (const tokens of [600, 600, 5_000]) (await hive.acquire({ endpoint: "eu", tokens })).done();
    expect(await metrics.of("hivepace.decisions")).toEqual([
      { attributes: { ...eu, outcome: "granted" }, value: 1 },
      { attributes: { ...eu, outcome: "would_wait", limited_by: "endpoint-tpm" }, value: 1 },
      { attributes: { ...eu, outcome: "would_deny", limited_by: "endpoint-tpm" }, value: 1 },
    ]);
  });

  test("a memory limiter and a rate manager are counted too, and unknown names are no attributes", async () => {
    const { clock } = world;
    const limiter = new MemoryLimiter({ clock });
    limiter.setCapacity("api", 2, 1_000);
    const manager = new RateManager({ clock });
    manager.setEndpoint({ id: "eu", rpmLimit: 1, tpmLimit: 100 });
    instrument({ observe: [limiter, manager] });
    limiter.tryAcquire("api");
    limiter.tryAcquire("user-4711");
    for (let i = 0; i < 2; i++) manager.check({ endpoint: "eu", tokens: 10 });
    expect(await metrics.of("hivepace.decisions")).toEqual([
      { attributes: { source: "memory-limiter", resource: "api", outcome: "granted" }, value: 1 },
      { attributes: { source: "memory-limiter", outcome: "denied", reason: "unknown" }, value: 1 },
      { attributes: { source: "rate-manager", resource: "eu", outcome: "granted" }, value: 1 },
      {
        attributes: {
          source: "rate-manager",
          resource: "eu",
          outcome: "denied",
          reason: "no_tokens",
          limited_by: "endpoint-rpm",
        },
        value: 1,
      },
    ]);
    expect(await metrics.of("hivepace.requests.in_flight")).toEqual([{ attributes: { resource: "api" }, value: 1 }]);
    expect(await metrics.of("hivepace.limit.used_here")).toEqual([
      { attributes: { resource: "eu", dimension: "requests" }, value: 1 },
      { attributes: { resource: "eu", dimension: "tokens" }, value: 10 },
    ]);
    expect(await metrics.of("hivepace.limit.configured")).toEqual([
      { attributes: { resource: "api", dimension: "capacity" }, value: 2 },
      { attributes: { resource: "eu", dimension: "requests" }, value: 1 },
      { attributes: { resource: "eu", dimension: "tokens" }, value: 100 },
    ]);
    await limiter.close();
  });
});

test("leases are measured with their duration, end and usage", async () => {
  instrument();
  const hive = await world.hive("a", { bus: undefined });
  const leases = [100, 200, 300].map((tokens) => hive.tryAcquire({ endpoint: "eu", tokens }).lease);
  await world.clock.run(2_000);
  leases[0]?.done({ tokens: 70 });
  leases[1]?.cancel();
  leases[2]?.refused({ reason: "429", kind: "overload" });
  expect(await metrics.of("hivepace.lease.duration")).toEqual([
    { attributes: { ...eu, "lease.end": "done" }, value: 1, sum: 2 },
    { attributes: { ...eu, "lease.end": "cancelled" }, value: 1, sum: 2 },
    { attributes: { ...eu, "lease.end": "refused" }, value: 1, sum: 2 },
  ]);
  expect(await metrics.of("hivepace.tokens")).toEqual([{ attributes: eu, value: 70 }]);
  expect(await metrics.of("hivepace.refusals")).toEqual([
    { attributes: { ...eu, "refusal.kind": "overload" }, value: 1 },
  ]);
});

describe("a swarm of two", () => {
  test("changes of level, members, messages and bus are counted", async () => {
    instrument();
    const a = await world.hive("a");
    const b = await world.hive("b");
    await world.clock.run(5_000);
    a.announceReduced("eu", "429", { retryAfterMs: 1_000 });
    await world.clock.run(1_000);
    expect(await metrics.of("hivepace.level.changes")).toEqual([
      { attributes: { ...eu, "level.cause": "cut" }, value: 2 },
    ]);
    expect(await metrics.of("hivepace.member.changes")).toEqual([
      { attributes: { "member.change": "joined" }, value: 2 },
    ]);
    const announcements = (points: readonly { attributes: object; value: number }[]) =>
      points.filter(({ attributes }) => (attributes as { "message.type": string })["message.type"] === "announcement");
    expect(announcements(await metrics.of("hivepace.messages.sent"))).toMatchObject([{ value: 1 }]);
    expect(announcements(await metrics.of("hivepace.messages.received"))).toMatchObject([{ value: 2 }]);
    expect(await metrics.of("hivepace.messages.ignored")).toEqual([]);

    await b.close();
    await world.hive("c", { endpoints: [{ id: "eu", rpmLimit: 10 }], windowMs: 20_000 });
    world.broker.stop();
    await world.clock.run(2_000);
    world.broker.start();
    await world.clock.run(5_000);
    expect(await metrics.of("hivepace.bus.changes")).toEqual([
      { attributes: { "bus.name": "memory", "bus.state": "closed" }, value: 1 },
      { attributes: { "bus.name": "memory", "bus.state": "interrupted" }, value: 2 },
      { attributes: { "bus.name": "memory", "bus.state": "ready" }, value: 2 },
    ]);
    expect(await metrics.of("hivepace.messages.sent")).toContainEqual({
      attributes: { "message.type": "presence", "error.type": "BUS_UNAVAILABLE" },
      value: expect.any(Number),
    });
    expect(await metrics.of("hivepace.messages.ignored")).toContainEqual({
      attributes: { "message.type": "presence", reason: "other limits" },
      value: expect.any(Number),
    });
  });

  test("the state of a hive is read at each collection", async () => {
    const a = await world.hive("a");
    await world.hive("b");
    await world.clock.run(5_000);
    instrument({ observe: [a] });
    const leases = [a.tryAcquire({ endpoint: "eu", tokens: 100 }), a.tryAcquire({ endpoint: "eu", tokens: 200 })];
    expect(leases.map(({ allowed }) => allowed)).toEqual([true, true]);
    const waits = [600, 700].map((tokens) => a.acquire({ endpoint: "eu", tokens }).catch(() => {}));
    await world.clock.run(200);

    const namespace = { namespace: "test" };
    const of = { ...namespace, resource: "eu" };
    const one = async (name: string) => (await metrics.of(name)).map(({ attributes, value }) => [attributes, value]);
    const { endpoints, viewAgeMs } = a.status();
    const [limits] = endpoints.map((endpoint) => endpoint.limits);
    const [endpoint] = endpoints;
    expect(await one("hivepace.limit.level")).toEqual([[of, 1]]);
    expect(await one("hivepace.limit.pause")).toEqual([[of, 0]]);
    expect(await one("hivepace.requests.in_flight")).toEqual([[of, endpoint?.inFlight]]);
    expect(await one("hivepace.requests.waiting")).toEqual([[of, endpoint?.waiting]]);
    expect((endpoint?.inFlight ?? 0) + (endpoint?.waiting ?? 0)).toBe(4);
    expect(await one("hivepace.members")).toEqual([[namespace, 2]]);
    expect(await one("hivepace.agent.duplicates")).toEqual([[namespace, 0]]);
    expect(await one("hivepace.bus.silence")).toEqual([[namespace, (viewAgeMs as number) / 1_000]]);
    expect(await one("hivepace.agent.status")).toEqual(
      ["joining", "alone", "member", "isolated"].map((mode) => [
        { ...namespace, "agent.mode": mode },
        Number(mode === "member"),
      ]),
    );
    expect(await one("hivepace.bus.status")).toEqual(
      ["connecting", "ready", "interrupted", "closed", "none"].map((state) => [
        { ...namespace, "bus.state": state },
        Number(state === "ready"),
      ]),
    );
    const kinds = [
      ["configured", "limit"],
      ["capacity", "total"],
      ["used", "used"],
      ["used_here", "usedHere"],
      ["share", "share"],
    ] as const;
    for (const [metric, field] of kinds)
      expect(await one(`hivepace.limit.${metric}`)).toEqual(
        ["requests", "tokens"].map((dimension, i) => [{ ...of, dimension }, limits?.[i]?.[field]]),
      );
    expect(await one("hivepace.limit.configured")).toEqual([
      [{ ...of, dimension: "requests" }, 10],
      [{ ...of, dimension: "tokens" }, 1_000],
    ]);

    a.announceReduced("eu", "429", { retryAfterMs: 4_000 });
    expect(await one("hivepace.limit.level")).toEqual([[of, 0.5]]);
    expect(await one("hivepace.limit.pause")).toEqual([[of, 4]]);
    await a.close();
    await Promise.all(waits);
  });

  test("the state of a distributed limiter is read too", async () => {
    const limiter = await world.limiter("a");
    await world.limiter("b");
    limiter.setCapacity("api", 10, 10_000);
    await world.clock.run(5_000);
    instrument({ observe: [limiter] });
    limiter.tryAcquire("api", 3);
    const share = limiter.status().resources[0]?.share;
    const api = { resource: "api" };
    expect(await metrics.of("hivepace.requests.in_flight")).toEqual([{ attributes: api, value: 1 }]);
    expect(await metrics.of("hivepace.limit.level")).toEqual([{ attributes: api, value: 1 }]);
    expect(await metrics.of("hivepace.limit.share")).toEqual([
      { attributes: { ...api, dimension: "capacity" }, value: share },
    ]);
    expect(await metrics.of("hivepace.members")).toEqual([{ attributes: {}, value: 2 }]);
  });

  test("several hives of one process are one series with the sum or the worse of their values", async () => {
    const [a, b] = [await world.hive("a"), await world.hive("b")];
    await world.clock.run(5_000);
    const { observe } = instrument({ observe: [a] });
    observe(b);
    for (const hive of [a, b]) hive.tryAcquire({ endpoint: "eu", tokens: 10 });
    const of = { namespace: "test", resource: "eu" };
    expect(await metrics.of("hivepace.requests.in_flight")).toEqual([{ attributes: of, value: 2 }]);
    expect(await metrics.of("hivepace.members")).toEqual([{ attributes: { namespace: "test" }, value: 2 }]);
    expect(await metrics.of("hivepace.bus.status")).toContainEqual({
      attributes: { namespace: "test", "bus.state": "ready" },
      value: 2,
    });
    // Additional attributes separate the series.
    observe(b, { "hivepace.agent": "b" });
    expect(await metrics.of("hivepace.requests.in_flight")).toEqual([
      { attributes: of, value: 1 },
      { attributes: { ...of, agent: "b" }, value: 1 },
    ]);
  });
});

test("syncs are measured with their duration, errors, and the age of the view", async () => {
  const manager = new RateManager({ clock: world.clock });
  manager.setEndpoint({ id: "eu", rpmLimit: 100 });
  const store = world.store();
  instrument();
  const view = startGlobalView({ manager, store, agentId: "a", namespace: "test", clock: world.clock });
  running?.observe(view);
  await world.clock.run(100);
  await store.close();
  await world.clock.run(3_000);
  const failed = { "sync.operation": "sync", "error.type": "SYNC_CLOSED" };
  expect(await metrics.of("hivepace.sync.duration")).toEqual([
    { attributes: { "sync.operation": "sync" }, value: 1, sum: 0 },
    { attributes: failed, value: expect.any(Number), sum: 0 },
  ]);
  expect(await metrics.of("hivepace.sync.age")).toEqual([
    { attributes: { "sync.operation": "sync" }, value: view.status().ageMs / 1_000 },
  ]);
  expect(view.status().ageMs).toBeGreaterThan(3_000);
  await view.close();
  expect(await metrics.of("hivepace.sync.age")).toMatchObject([{ value: 0 }]);
});

test("a hive with store aggregation reports the time since the last answer of the store", async () => {
  const { observe } = instrument();
  observe(await world.hive("a", { sync: world.store(), aggregation: "store" }));
  await world.clock.run(3_000);
  const ages = await metrics.of("hivepace.sync.age");
  expect(ages.map(({ attributes }) => attributes["sync.operation"])).toEqual(["sync", "share"]);
  expect((await metrics.of("hivepace.sync.duration")).map(({ attributes }) => attributes["sync.operation"])).toEqual(
    expect.arrayContaining(["share", "sync"]),
  );
});

test("calls of a limited fetch are counted by their outcome", async () => {
  instrument();
  const hive = await world.hive("a", { bus: undefined, endpoints: [{ id: "openai" }] });
  const answers = [
    () => new Response('{"error":{"type":"rate_limit_error"}}', { status: 429 }),
    () => Response.json({}),
    () => {
      throw new TypeError("fetch failed");
    },
  ];
  const send = async (): Promise<Response> => (answers.shift() as () => Response)();
  const limited = createLimitedFetch(hive, { clock: world.clock, fetch: send as typeof fetch });
  const body = JSON.stringify({ model: "gpt", messages: [] });
  const call = limited("https://api.openai.com/v1/chat/completions", { method: "POST", body });
  await world.clock.run(60_000);
  await call;
  await limited("https://api.openai.com/v1/chat/completions", { method: "POST", body }).catch(() => {});
  const of = { resource: "openai", provider: "openai" };
  expect(await metrics.of("hivepace.call.duration")).toMatchObject([
    { attributes: { ...of, "call.outcome": "refused", "call.retry": false, "error.type": "rate_limited" }, value: 1 },
    { attributes: { ...of, "call.outcome": "answered", "call.retry": true }, value: 1 },
    { attributes: { ...of, "call.outcome": "failed", "call.retry": false, "error.type": "TypeError" }, value: 1 },
  ]);
});

describe("cardinality", () => {
  test("no agent id, session or key is an attribute", async () => {
    const hive = await world.hive("agent-4711", { keys: { "key-4711": { rpmLimit: 1 } }, sync: world.store() });
    await world.clock.run(5_000);
    instrument({ observe: [hive] });
    const request = { endpoint: "eu", key: "key-4711", session: "session-4711", tokens: 1, model: "model-4711" };
    for (const { lease } of [hive.tryAcquire(request), hive.tryAcquire(request)])
      lease?.refused({ reason: "reason-4711" });
    await world.clock.run(2_000);
    const all = JSON.stringify([...(await metrics.all()).values()].map(({ dataPoints }) => dataPoints));
    expect(all).toContain("key-rpm");
    expect(all).not.toContain("4711");
  });

  test("attributes can be added and removed", async () => {
    instrument({
      attributes: ({ "hivepace.source": _, ...rest }, { name, event }) => ({
        ...rest,
        ...(name === "hivepace.decisions" && event && "agentId" in event ? { tier: `of ${event.agentId}` } : {}),
      }),
    });
    const hive = await world.hive("a", { bus: undefined });
    hive.tryAcquire({ endpoint: "eu", tokens: 10 }).lease?.done();
    expect(await metrics.of("hivepace.decisions")).toEqual([
      { attributes: { resource: "eu", outcome: "granted", tier: "of a" }, value: 1 },
    ]);
    expect(await metrics.of("hivepace.lease.duration")).toMatchObject([
      { attributes: { resource: "eu", "lease.end": "done" } },
    ]);
  });

  test("an attribute hook that throws affects only its metric", async () => {
    const errors: unknown[] = [];
    const log = (...args: unknown[]) => void errors.push(args);
    diag.setLogger({ error: log, warn: log, info() {}, debug() {}, verbose() {} }, { logLevel: DiagLogLevel.ERROR });
    const limiter = new MemoryLimiter({ clock: new ManualClock() });
    limiter.setCapacity("api", 1, 1_000);
    instrument({
      observe: [limiter],
      attributes: () => {
        throw new Error("mine");
      },
    });
    expect(limiter.tryAcquire("api")).toBe(true);
    expect(await metrics.of("hivepace.decisions")).toEqual([]);
    expect(errors.length).toBeGreaterThanOrEqual(2);
    diag.disable();
    await limiter.close();
  });
});

test("counts that were not collected yet are passed on when the instrumentation stops", async () => {
  const limiter = new MemoryLimiter({ clock: new ManualClock() });
  limiter.setCapacity("api", 2, 1_000);
  const { stop } = instrument();
  for (let i = 0; i < 5; i++) limiter.tryAcquire("api");
  stop();
  const decisions = await metrics.of("hivepace.decisions");
  expect(decisions.map(({ attributes, value }) => [attributes["outcome"], value])).toEqual([
    ["granted", 2],
    ["denied", 3],
  ]);
  await limiter.close();
});

test("each of very many resources is counted, although only some series are kept", async () => {
  const limiter = new MemoryLimiter({ clock: new ManualClock() });
  instrument();
  const resources = Array.from({ length: 2_500 }, (_, i) => `user-${i}`);
  for (let round = 0; round < 2; round++)
    for (const resource of resources) {
      if (round === 0) limiter.setCapacity(resource, 2, 1_000);
      expect(limiter.tryAcquire(resource)).toBe(true);
    }
  const decisions = await metrics.of("hivepace.decisions");
  expect(decisions.reduce((sum, { value }) => sum + value, 0)).toBe(5_000);
  await limiter.close();
});

test("stopping removes every subscription, callback and observed object", async () => {
  const limiter = new MemoryLimiter({ clock: new ManualClock() });
  limiter.setCapacity("api", 10, 1_000);
  let looked = 0;
  const status = () => {
    looked++;
    return limiter.status();
  };
  const meter = metrics.provider.getMeter("@hivepace/otel");
  const [added, removed] = [
    vi.spyOn(meter, "addBatchObservableCallback"),
    vi.spyOn(meter, "removeBatchObservableCallback"),
  ];
  const { stop, observe } = instrument({ observe: [{ status }], traces: true });
  for (const name of Object.values(channelNames)) expect([name, channel(name).hasSubscribers]).toEqual([name, true]);
  limiter.tryAcquire("api");
  await metrics.all();
  stop();
  stop();
  for (const name of Object.values(channelNames)) expect([name, channel(name).hasSubscribers]).toEqual([name, false]);
  limiter.tryAcquire("api");
  observe({ status });
  expect(await metrics.of("hivepace.decisions")).toMatchObject([{ value: 1 }]);
  expect(looked).toBe(1);
  expect(added.mock.calls).toHaveLength(1);
  expect(removed.mock.calls).toEqual(added.mock.calls);
  await limiter.close();
});

test("a removed or closed object reports its values at rest instead of repeating the last ones", async () => {
  const [a, b] = [await world.hive("a"), await world.hive("b", { endpoints: [{ id: "us", rpmLimit: 5 }] })];
  await world.clock.run(5_000);
  const { observe } = instrument({ observe: [a] });
  const forget = observe(b);
  for (const [hive, endpoint] of [[a, "eu"] as const, [b, "us"] as const]) {
    hive.tryAcquire({ endpoint, tokens: 1 });
    hive.announceReduced(endpoint, "429");
  }
  const values = async (name: string) => (await metrics.of(name)).map(({ value }) => value);
  expect(await values("hivepace.limit.level")).toEqual([0.5, 0.5]);
  forget();
  expect(await values("hivepace.limit.level")).toEqual([0.5, 1]);
  expect(await values("hivepace.requests.in_flight")).toEqual([1, 0]);
  expect(await values("hivepace.members")).toEqual([2]);
  await a.close();
  expect(await values("hivepace.limit.level")).toEqual([1, 1]);
  expect(await values("hivepace.requests.in_flight")).toEqual([0, 0]);
  expect(await values("hivepace.members")).toEqual([0]);
  observe(b);
  expect(await values("hivepace.limit.level")).toEqual([1, 0.5]);
});

test("every instrument has the unit and the description from the catalogue", async () => {
  const hive = await world.hive("a", { sync: world.store(), aggregation: "store" });
  instrument({ observe: [hive] });
  await world.clock.run(5_000);
  const all = await metrics.all();
  expect(all.size).toBeGreaterThanOrEqual(15);
  for (const { descriptor } of all.values()) {
    const listed = [...Object.values(eventMetrics), ...Object.values(statusMetrics)].find(
      ({ name }) => name === descriptor.name,
    );
    expect(descriptor).toMatchObject({ unit: listed?.unit, description: listed?.description });
  }
  for (const { name, unit } of [...Object.values(eventMetrics), ...Object.values(statusMetrics)]) {
    expect(name).toMatch(/^hivepace(\.[a-z_]+)+$/);
    expect(unit).toMatch(/^(s|1|\{[a-z]+\})$/);
    if (/\.(duration|age|pause|silence)$/.test(name)) expect(unit).toBe("s");
  }
  // No name may be a prefix of another.
  const names = [...Object.values(eventMetrics), ...Object.values(statusMetrics)].map(({ name }) => name);
  expect(names.filter((name) => names.some((other) => other.startsWith(`${name}.`)))).toEqual([]);
});

test.each([
  [{ meterProvider: {} }, "meterProvider"],
  [{ tracerProvider: 1 }, "tracerProvider"],
  [{ observe: {} }, "observe"],
  [{ observe: [{}] }, "observe[0]"],
  [{ attributes: "all" }, "attributes"],
  [{ metrics: "yes" }, "metrics"],
  [{ traces: 0 }, "traces"],
])("INVALID_CONFIG names the option: %j", (options, option) => {
  expect(() => instrumentHivepace(options as unknown as OtelOptions)).toThrow(
    expect.objectContaining({ code: "INVALID_CONFIG", option }),
  );
  for (const name of Object.values(channelNames)) expect(channel(name).hasSubscribers).toBe(false);
});
