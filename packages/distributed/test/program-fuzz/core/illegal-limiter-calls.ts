import type { RateLimiter } from "@hivepace/core";

const text = "many" as unknown as number;

/** Invalid calls of a limiter: each must fail with a typed error. */
export const ILLEGAL_CALLS: readonly ((limiter: RateLimiter) => unknown)[] = [
  (limiter) => limiter.tryAcquire("api", 0),
  (limiter) => limiter.tryAcquire("api", -1),
  (limiter) => limiter.tryAcquire("api", Number.NaN),
  (limiter) => limiter.tryAcquire("api", Infinity),
  (limiter) => limiter.tryAcquire("api", text),
  (limiter) => limiter.acquire("nowhere"),
  (limiter) => limiter.acquire("api", { cost: 0 }),
  (limiter) => limiter.acquire("api", { timeoutMs: -1 }),
  (limiter) => limiter.acquire("api", { timeoutMs: Number.NaN }),
  (limiter) => limiter.acquire("api", { priority: Number.NaN }),
  (limiter) => limiter.acquire("api", { priority: Infinity }),
  (limiter) => limiter.run("nowhere", async () => {}),
  (limiter) => limiter.run("api", async () => {}, { cost: Number.NaN }),
  (limiter) => limiter.release("api", -1),
  (limiter) => limiter.release("api", Number.NaN),
  (limiter) => limiter.setCapacity("api", 0, 1_000),
  (limiter) => limiter.setCapacity("api", -5, 1_000),
  (limiter) => limiter.setCapacity("api", Number.NaN, 1_000),
  (limiter) => limiter.setCapacity("api", Infinity, 1_000),
  (limiter) => limiter.setCapacity("api", 5, 0),
  (limiter) => limiter.setCapacity("api", 5, Number.NaN),
  (limiter) => limiter.setCapacity("api", 5, Infinity),
  (limiter) => limiter.setCapacity("api", 5, 1_000, { burst: 0 }),
  (limiter) => limiter.setCapacity("api", 5, 1_000, { burst: Number.NaN }),
  (limiter) => limiter.setCapacity(5 as unknown as string, 5, 1_000),
  (limiter) => limiter.announceReduced("api", 429 as unknown as string),
  (limiter) => limiter.announceReduced("api", "429", { retryAfterMs: -1 }),
  (limiter) => limiter.announceReduced("api", "429", { sentAgoMs: Number.NaN }),
  (limiter) => limiter.announceReduced("api", "429", { kind: "other" as "limit" }),
];
