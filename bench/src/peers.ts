import { MemoryLimiter } from "@hivepace/core";
import Bottleneck from "bottleneck";
import { Effect } from "effect";
import { RateLimiter as EffectRateLimiter } from "effect/persistence";
import { RateLimiter, TokenBucket } from "limiter";
import PQueue from "p-queue";
import { pRateLimit } from "p-ratelimit";
import pThrottle from "p-throttle";
import { RateLimiterMemory } from "rate-limiter-flexible";
import { limit, resource } from "./limit.ts";

/** Each library as its own README sets it up, all with the same limit. */

export function hivepace(resources: Iterable<string> = [resource]): MemoryLimiter {
  const limiter = new MemoryLimiter();
  for (const name of resources) limiter.setCapacity(name, limit.tokens, limit.windowMs);
  return limiter;
}

export function limiterTokenBucket(): TokenBucket {
  const { tokens, windowMs } = limit;
  const bucket = new TokenBucket({ bucketSize: tokens, tokensPerInterval: tokens, interval: windowMs });
  // The bucket starts empty; the library's own RateLimiter fills it the same way.
  bucket.content = tokens;
  return bucket;
}

export function limiterRateLimiter(): RateLimiter {
  return new RateLimiter({ tokensPerInterval: limit.tokens, interval: limit.windowMs });
}

export function flexibleMemory(seconds = limit.windowMs / 1_000): RateLimiterMemory {
  return new RateLimiterMemory({ points: limit.tokens, duration: seconds });
}

export function bottleneck(): Bottleneck {
  return new Bottleneck({
    reservoir: limit.tokens,
    reservoirRefreshAmount: limit.tokens,
    reservoirRefreshInterval: limit.windowMs,
  });
}

export function pRateLimited(): <T>(work: () => Promise<T>) => Promise<T> {
  return pRateLimit({ rate: limit.tokens, interval: limit.windowMs });
}

export function pThrottled<T>(work: () => Promise<T>): () => Promise<T> {
  return pThrottle({ limit: limit.tokens, interval: limit.windowMs })(work);
}

/** Effect's rate limiter with its store in memory: one request, as an effect that fails when it would have to wait. */
export function effectConsume() {
  const limiter = Effect.runSync(EffectRateLimiter.make.pipe(Effect.provide(EffectRateLimiter.layerStoreMemory)));
  return limiter.consume({
    algorithm: "token-bucket",
    onExceeded: "fail",
    key: resource,
    limit: limit.tokens,
    window: limit.windowMs,
    tokens: 1,
  });
}

/** A p-queue that starts a number of jobs in each interval. */
export function pQueue(): PQueue {
  return new PQueue({ interval: limit.windowMs, intervalCap: limit.tokens });
}

/** A paused p-queue, whose jobs wait until they are aborted. */
export function queueOf(): { join(count: number): void; abort(): void; close(): Promise<void> } {
  const queue = new PQueue({ autoStart: false, concurrency: 1 });
  let aborts: AbortController[] = [];
  return {
    join(count) {
      aborts = Array.from({ length: count }, () => new AbortController());
      for (const { signal } of aborts) queue.add(async () => {}, { signal }).catch(() => {});
    },
    abort() {
      for (const abort of aborts) abort.abort();
    },
    async close() {
      queue.clear();
    },
  };
}
