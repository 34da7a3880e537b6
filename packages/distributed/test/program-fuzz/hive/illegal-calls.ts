import type { Hive } from "../../../src/index.ts";

/** Invalid calls: each must fail with a typed error. */
export const ILLEGAL_CALLS: readonly ((hive: Hive, known: string) => unknown)[] = [
  // @ts-expect-error a request needs an endpoint or a route
  (hive) => hive.tryAcquire({ tokens: 1 }),
  // @ts-expect-error a request has an endpoint or a route, and not both
  (hive, id) => hive.tryAcquire({ endpoint: id, route: [id], tokens: 1 }),
  // @ts-expect-error there is no such option
  (hive, id) => hive.tryAcquire({ endpoint: id, token: 1 }),
  // @ts-expect-error there is no such option
  (hive) => hive.addEndpoint({ id: "new", rpm: 60 }),
  (hive, id) => hive.addEndpoint({ id, rpmLimit: -1 }),
  // @ts-expect-error there is no such option
  (hive) => hive.reconfigure({ endpoint: [] }),
  (hive) => hive.tryAcquire({ route: [], tokens: 1 }),
  (hive, id) => hive.tryAcquire({ endpoint: id, tokens: -1 }),
  (hive, id) => hive.tryAcquire({ endpoint: id, tokens: Number.NaN }),
  (hive, id) => hive.tryAcquire({ endpoint: id, tokens: Number.POSITIVE_INFINITY }),
  (hive, id) => hive.tryAcquire({ endpoint: id, tokens: 5, inputTokens: -2 }),
  (hive, id) => hive.tryAcquire({ endpoint: id, tokens: "many" as unknown as number }),
  (hive, id) => hive.tryAcquire({ endpoint: id, tokens: 1, key: "" }),
  (hive) => hive.tryAcquire({ endpoint: "nowhere", tokens: 1 }),
  (hive) => hive.acquire({ endpoint: "nowhere", tokens: 1 }),
  (hive, id) => hive.acquire({ endpoint: id, tokens: 1, timeoutMs: -1 }),
  (hive, id) => hive.acquire({ endpoint: id, tokens: 1, timeoutMs: Number.NaN }),
  (hive, id) => hive.acquire({ endpoint: id, tokens: 1, priority: Number.NaN }),
  (hive) => hive.explain("nowhere"),
  (hive) => hive.announceReduced("nowhere", "429"),
  (hive, id) => hive.announceReduced(id, 429 as unknown as string),
  (hive, id) => hive.announceReduced(id, "429", { retryAfterMs: -1 }),
  (hive, id) => hive.announceReduced(id, "429", { retryAfterMs: Number.NaN }),
  (hive, id) => hive.announceReduced(id, "429", { sentAgoMs: Number.NaN }),
  (hive) => hive.reconfigure({ endpoints: [{ id: "eu", rpmLimit: -1 }] }),
  (hive) =>
    hive.reconfigure({
      endpoints: [
        { id: "eu", rpmLimit: 1 },
        { id: "x".repeat(5_000), rpmLimit: 1 },
      ],
    }),
  (hive) => hive.reconfigure({ endpoints: [{ id: "eu" }, { id: "eu" }] }),
  (hive) => hive.reconfigure({ endpoints: [{ id: "eu" }], keys: { acme: { rpmLimit: -1 } } }),
  (hive) => hive.reconfigure({ keys: { "": { rpmLimit: 1 } } }),
  (hive) =>
    hive.reconfigure({
      endpoints: [
        { id: "new", rpmLimit: 5 },
        { id: "x".repeat(5_000), rpmLimit: 1 },
      ],
    }),
  (hive) => hive.reconfigure(undefined as never),
  (hive) => hive.route({ candidates: [], tokens: 1 }),
  (hive) => hive.route({ candidates: ["nowhere"], tokens: 1 }),
  (hive, id) => hive.route({ candidates: [id], tokens: Number.NaN }),
  (hive, id) => hive.route({ candidates: [id], tokens: 1, strategy: "best" as never }),
  (hive, id) => hive.tryAcquire({ endpoint: id, inputTokens: 1, outputTokens: Number.NaN }),
  (hive) => hive.close({ drainMs: Number.NaN }),
];

/** Invalid calls of operations, see `OperationsWriter`. */
export const ILLEGAL_OPERATIONS: readonly ((hive: Hive, known: string) => unknown)[] = [
  (hive) => hive.park("nowhere", { reason: "maintenance" }),
  (hive, id) => hive.park(id, { reason: 5 as unknown as string }),
  (hive, id) => hive.park(id, { reason: "maintenance", forMs: -1 }),
  (hive, id) => hive.park(id, { reason: "maintenance", forMs: Number.NaN }),
  (hive, id) => hive.park(id, { reason: "maintenance", model: "" }),
  (hive, id) => hive.park(id, undefined as never),
  (hive) => hive.unpark("nowhere"),
  (hive, id) => hive.addEndpoint({ id, maxInFlight: 0 }),
  (hive, id) => hive.addEndpoint({ id, maxInFlight: Number.NaN }),
  (hive, id) => hive.addEndpoint({ id, maxInFlight: { adaptive: { min: 3, max: 1 } } }),
  (hive, id) => hive.addEndpoint({ id, models: [] }),
  (hive, id) => hive.addEndpoint({ id, model: "large", models: ["small"] }),
  (hive) => hive.addEndpoint({ id: "" }),
  (hive) => hive.addEndpoint(undefined as never),
  (hive, id) =>
    hive.reconfigure({
      endpoints: [
        { id, models: ["large"] },
        { id, model: "large" },
      ],
    }),
  (hive) => hive.reconfigure({ keys: { acme: { maxInFlight: 1.5 } } }),
  (hive, id) => hive.run({ endpoint: id, tokens: 1 }, undefined as never),
  (hive) => hive.run({ endpoint: "nowhere", tokens: 1 }, () => {}),
  (hive, id) => hive.acquire({ route: [[id], []], tokens: 1 }),
  (hive, id) => hive.announceReduced(id, "429", { kind: "other" as "limit" }),
  // @ts-expect-error there is no such option
  (hive) => hive.ready({ timeoutMs: 5 }),
];
