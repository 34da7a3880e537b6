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
