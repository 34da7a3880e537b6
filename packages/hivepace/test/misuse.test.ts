import { kafkaBus } from "@hivepace/bus-kafka";
import { natsBus } from "@hivepace/bus-nats";
import { redisPubSubBus } from "@hivepace/bus-redis-pubsub";
import { redisSync } from "@hivepace/sync-redis";
import { describe, expect, onTestFinished, test } from "vitest";
import * as hivepace from "../src/index.ts";

const endpoints = [{ id: "openai", rpmLimit: 100, tpmLimit: 1_000 }];

/** A hive that is closed at the end of the test. */
async function aHive(more: object = {}): Promise<hivepace.Hive> {
  const hive = await hivepace.createHive({ endpoints, namespace: "misuse", ...more });
  onTestFinished(() => hive.close());
  return hive;
}

/** A lease of such a hive. */
const aLease = async () => (await aHive()).acquire({ endpoint: "openai", tokens: 1 });

const bus = () => hivepace.memoryBus();
const manager = new hivepace.RateManager();
const store = { name: "none", sync: () => Promise.reject(new Error("none")), close: async () => {} };
const update = { resource: "a", agentId: "b", newCapacity: 1, reason: "", timestamp: new Date() };
const decision = { endpoint: "a", agentId: "b", reason: "" };
const away = { url: "redis://127.0.0.1:1" };

/** Calls with one misspelt name: the call, the name in the error, and the name that it suggests. */
const MISSPELT: readonly (readonly [name: string, call: () => unknown, option: string, meant: string])[] = [
  ["createHive", () => aHive({ nameSpace: "x" }), "nameSpace", "namespace"],
  ["an endpoint", () => aHive({ endpoints: [{ id: "a", rpm: 60 }] }), "endpoints[0].rpm", "rpmLimit"],
  ["slots", () => aHive({ endpoints: [{ id: "a", maxInflight: 6 }] }), "endpoints[0].maxInflight", "maxInFlight"],
  [
    "adaptive slots",
    () => aHive({ endpoints: [{ id: "a", maxInFlight: { adaptive: { min: 1, max: 2, strat: 2 } } }] }),
    "endpoints[0].maxInFlight.adaptive.strat",
    "start",
  ],
  ["a key", () => aHive({ keys: { acme: { rpm: 60 } } }), "keys.acme.rpm", "rpmLimit"],
  ["acquire", async () => (await aHive()).acquire({ endpoint: "openai", token: 1 } as never), "token", "tokens"],
  ["run", async () => (await aHive()).run({ endpoint: "openai", token: 1 } as never, () => {}), "token", "tokens"],
  ["ready", async () => (await aHive()).ready({ sinal: 1 } as never), "sinal", "signal"],
  ["reconfigure", async () => (await aHive()).reconfigure({ endpoint: [] } as never), "endpoint", "endpoints"],
  ["park", async () => (await aHive()).park("openai", { reason: "x", formMs: 1 } as never), "formMs", "forMs"],
  ["unpark", async () => (await aHive()).unpark("openai", { modle: "x" } as never), "modle", "model"],
  [
    "announceReduced",
    async () => (await aHive()).announceReduced("openai", "429", { retryAfter: 1 } as never),
    "retryAfter",
    "retryAfterMs",
  ],
  ["close", async () => (await aHive()).close({ drain: 1 } as never), "drain", "drainMs"],
  ["done", async () => (await aLease()).done({ token: 5 } as never), "used.token", "tokens"],
  [
    "refused",
    async () => (await aLease()).refused({ reason: "429", retryAfter: 1 } as never),
    "retryAfter",
    "retryAfterMs",
  ],
  ["failed", async () => (await aLease()).failed({ reason: "500", wassent: true } as never), "wassent", "wasSent"],
  ["openBus", () => hivepace.openBus("memory:x", { waitForBrokr: true } as never), "waitForBrokr", "waitForBroker"],
  ["openStore", () => hivepace.openStore(away.url, { waitForBrokr: true } as never), "waitForBrokr", "waitForBroker"],
  [
    "observeSwarm",
    async () => hivepace.observeSwarm({ bus: await bus(), nmspace: "x" } as never),
    "nmspace",
    "namespace",
  ],
  [
    "announceCapacity",
    async () => hivepace.announceCapacity(update, { bus: await bus(), nmspace: "x" } as never),
    "nmspace",
    "namespace",
  ],
  [
    "parkEndpoint",
    async () => hivepace.parkEndpoint({ ...decision, frMs: 1 } as never, { bus: await bus() }),
    "frMs",
    "forMs",
  ],
  [
    "createDistributedLimiter",
    async () => hivepace.createDistributedLimiter({ bus: await bus(), agent: "a" } as never),
    "agent",
    "agentId",
  ],
  ["createRouter", () => hivepace.createRouter({ manager, weight: {} } as never), "weight", "weights"],
  [
    "startGlobalView",
    () => hivepace.startGlobalView({ manager, store, agentId: "a", interval: 1 } as never),
    "interval",
    "intervalMs",
  ],
  ["resolveNamespace", () => hivepace.resolveNamespace({ namspace: "x" } as never), "namspace", "namespace"],
  ["MemoryLimiter", () => new hivepace.MemoryLimiter({ maxQueues: 1 } as never), "maxQueues", "maxQueue"],
  ["RateManager", () => new hivepace.RateManager({ windowsMs: 1 } as never), "windowsMs", "windowMs"],
  [
    "acquire of a limiter",
    () =>
      new hivepace.MemoryLimiter({ capacityFor: () => ({ capacity: 9, windowMs: 9 }) }).acquire("a", {
        timeout: 1,
      } as never),
    "timeout",
    "timeoutMs",
  ],
  [
    "memoryBus",
    () => hivepace.memoryBus(undefined, { publishTimeout: 1 } as never),
    "publishTimeout",
    "publishTimeoutMs",
  ],
  ["namespacedBus", async () => hivepace.namespacedBus(await bus(), "x", { clok: 1 } as never), "clok", "clock"],
  ["subscribe", async () => (await bus()).subscribe("a", () => {}, { sinal: 1 } as never), "sinal", "signal"],
  [
    "createLimitedFetch",
    async () => hivepace.createLimitedFetch(await aHive(), { timeout: 5 } as never),
    "timeout",
    "timeoutMs",
  ],
  [
    "an endpoint of createLimitedFetch",
    async () => hivepace.createLimitedFetch(await aHive(), { endpoints: [{ id: "a", baseUrl: "https://a" }] } as never),
    "endpoints[0].baseUrl",
    "baseURL",
  ],
  [
    "a fallback of createLimitedFetch",
    async () => hivepace.createLimitedFetch(await aHive(), { fallback: [{ endpoint: "a", modle: "b" }] } as never),
    "fallback[0].modle",
    "model",
  ],
  ["kafkaBus", () => kafkaBus({ brokers: ["127.0.0.1:1"], topics: "x" } as never), "topics", "topic"],
  ["natsBus", () => natsBus({ servers: "127.0.0.1:1", waitForBrokr: true }), "waitForBrokr", "waitForBroker"],
  ["redisPubSubBus", () => redisPubSubBus({ ...away, waitforBroker: true }), "waitforBroker", "waitForBroker"],
  ["redisSync", () => redisSync({ ...away, syncTimeOutMs: 1 }), "syncTimeOutMs", "syncTimeoutMs"],
];

describe("a misspelt option is rejected with the name that was meant", () => {
  test.each(MISSPELT)("%s", async (_, call, option, meant) => {
    const error: unknown = await (async () => call())().then(undefined, (error: unknown) => error);
    expect(error).toMatchObject({ code: "INVALID_CONFIG", option });
    expect(String(error)).toMatch(new RegExp(`(did you mean|spelt) ${meant}\\b`));
  });
});

describe("something else than an object is rejected, and the error names it", () => {
  test.each<[string, () => unknown, string]>([
    ["an endpoint", () => aHive({ endpoints: [null] }), "endpoints[0]"],
    ["weights", () => aHive({ weights: 3 }), "weights"],
    ["a request", async () => (await aHive()).acquire(undefined as never), "request"],
    ["a request that is a string", async () => (await aHive()).tryAcquire("openai" as never), "request"],
    ["an update", async () => hivepace.announceCapacity(null as never, { bus: await bus() }), "update"],
    ["options of a fetch", async () => hivepace.createLimitedFetch(await aHive(), null as never), "options"],
    ["options of a router", () => hivepace.createRouter(undefined as never), "options"],
    ["a bus below a namespace", () => hivepace.namespacedBus(undefined as never, "x"), "bus"],
    ["the source of natsBus", () => natsBus("nats://127.0.0.1:1" as never), "source"],
  ])("%s", async (_, call, option) => {
    await expect((async () => call())()).rejects.toMatchObject({ code: "INVALID_CONFIG", option });
  });
});

test.each<[string, object]>([
  ["tokens", { tokens: "5" }],
  ["signal", { tokens: 5, signal: {} }],
  ["timeoutMs", { tokens: 5, timeoutMs: "5" }],
  ["endpoint", { tokens: 5, endpoint: ["openai"] }],
  ["model", { tokens: 5, model: 5 }],
  ["key", { tokens: 5, key: {} }],
])("a request whose %s has the wrong type is rejected", async (option, wrong) => {
  const request = { endpoint: "openai", ...wrong } as never;
  await expect((await aHive()).acquire(request)).rejects.toMatchObject({ code: "INVALID_CONFIG", option });
});

test.each(["refusalOf", "limitsForKey"])("%s must be a function", async (option) => {
  await expect(aHive({ [option]: {} })).rejects.toMatchObject({ code: "INVALID_CONFIG", option });
});

test("usage of an SDK is accepted with its further fields, and usage without a known field is not", async () => {
  const lease = await aLease();
  const usage = { inputTokens: 5, outputTokens: 2, totalTokens: 7 };
  expect(() => lease.done({ total_tokens: 7 } as never)).toThrow("used.total_tokens must be an option that exists");
  expect(() => lease.done(usage)).not.toThrow();
});

test("an unknown endpoint is answered with the known ones, the nearest and the fix", async () => {
  const hive = await aHive();
  const wrong = { code: "RESOURCE_UNKNOWN", resource: "opnai", known: ["openai"] };
  await expect(hive.acquire({ endpoint: "opnai", tokens: 1 })).rejects.toMatchObject(wrong);
  expect(() => hive.explain("opnai")).toThrow(
    'unknown endpoint "opnai": known are "openai"; did you mean "openai"? Otherwise add it to `endpoints`, or with addEndpoint()',
  );
});

test("an unknown model is answered with the models for which the endpoint has limits", async () => {
  const hive = await aHive({ endpoints: [{ id: "openai", model: "large", rpmLimit: 5 }] });
  await expect(hive.acquire({ endpoint: "openai", model: "small" })).rejects.toThrow(
    'unknown model "small" of endpoint "openai": it has limits for "large" only; add an entry with this id for others',
  );
  await expect(hive.acquire({ endpoint: "openai" })).rejects.toThrow('unknown endpoint without a model "openai"');
});
