import type { TokenBucket } from "limiter";
import { limit } from "./limit.ts";
import { flexibleMemory, hivepace, limiterTokenBucket } from "./peers.ts";

/** Creates a limiter for all names, uses each name once, and returns the objects that must stay alive. */
type Maker = (names: Iterable<string>) => unknown;

/** The output of the child process. */
export interface MemoryReading {
  readonly bytes: number;
}

const ours = "hivepace MemoryLimiter";
const floor = "a bare Map from name to number";

const makers: Record<string, Maker> = {
  [floor](names) {
    const map = new Map<string, number>();
    for (const name of names) map.set(name, 1);
    return map;
  },
  [ours](names) {
    const limiter = hivepace([]);
    for (const name of names) {
      limiter.setCapacity(name, limit.tokens, limit.windowMs);
      limiter.tryAcquire(name);
    }
    return limiter;
  },
  "Map of limiter TokenBuckets"(names) {
    const map = new Map<string, TokenBucket>();
    for (const name of names) {
      const bucket = limiterTokenBucket();
      bucket.tryRemoveTokens(1);
      map.set(name, bucket);
    }
    return map;
  },
  "rate-limiter-flexible memory"(names) {
    const limiter = flexibleMemory(3_600);
    for (const name of names) void limiter.consume(name, 1);
    return limiter;
  },
};

export const memoryContenders = { ours, floor, makers } as const;
