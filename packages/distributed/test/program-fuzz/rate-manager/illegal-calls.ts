import type { RateDecision, RateManager } from "@hivepace/core";

const text = "many" as unknown as number;

/** Invalid calls: each must fail with a typed error. */
export const ILLEGAL_CALLS: readonly ((manager: RateManager) => unknown)[] = [
  (manager) => manager.check({ endpoint: "nowhere", tokens: 1 }),
  (manager) => manager.check({ endpoint: "eu", tokens: -1 }),
  (manager) => manager.check({ endpoint: "eu", tokens: Number.NaN }),
  (manager) => manager.check({ endpoint: "eu", tokens: Infinity }),
  (manager) => manager.check({ endpoint: "eu", tokens: text }),
  (manager) => manager.check({ endpoint: "eu", tokens: 1, inputTokens: -1 }),
  (manager) => manager.check({ endpoint: "eu", tokens: 1, outputTokens: Number.NaN }),
  (manager) => manager.peek({ endpoint: "nowhere", tokens: 1 }),
  (manager) => manager.peek({ endpoint: "eu", tokens: Number.NaN }),
  (manager) => manager.handle({ endpoint: "nowhere" }),
  (manager) => manager.setEndpoint({ id: "" }),
  (manager) => manager.setEndpoint({ id: "eu", rpmLimit: -1 }),
  (manager) => manager.setEndpoint({ id: "eu", tpmLimit: Number.NaN }),
  (manager) => manager.setEndpoint({ id: "eu", model: "" }),
  (manager) => manager.setEndpoint({ id: "eu", models: [] }),
  (manager) => manager.setEndpoint({ id: "eu", model: "a", models: ["b"] }),
  (manager) => manager.setEndpoint({ id: "e\0u" }),
  (manager) => manager.setKey("", {}),
  (manager) => manager.setKey("acme", { rpmLimit: -1 }),
  (manager) => manager.setKey("acme", { tpmLimit: text }),
  (manager) => manager.loadConfig({ endpoints: [{ id: "eu" }, { id: "eu" }] }),
  (manager) => manager.loadConfig({ endpoints: [{ id: "new" }, { id: "eu", rpm_limit: -1 }] }),
  (manager) => manager.loadConfig({ endpoints: [{ id: "new" }], keys: { acme: { rate_limit_rpm: -1 } } }),
  (manager) => manager.loadConfig([] as never),
  (manager) => manager.settle({ allowed: true } as RateDecision, 1),
  (manager) => manager.cancel({ allowed: true } as RateDecision),
  (manager) => manager.share({ maxIds: 0 }),
];
