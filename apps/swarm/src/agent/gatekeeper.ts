import { type Clock, MemoryLimiter } from "@hivepace/core";
import type { Sleep } from "../lapse-clock.ts";
import { CENTRAL_ROUND_TRIP_MS } from "../rows.ts";
import { CentralBucket } from "./central-bucket.ts";
import type { AgentTask } from "./words.ts";

/** The limiter of a row other than Hivepace. A call acquires once; retries of the SDK behind the limiter do not. */
export interface Gatekeeper {
  /** Rejects with the signal's reason. */
  acquire(tokens: number, signal: AbortSignal): Promise<void>;
  /** Tells the limiter whether the server that it depends on, if any, can be reached. */
  setReachable(isReachable: boolean): void;
  close(): Promise<void>;
}

export type Limits = Pick<AgentTask, "rpm" | "tpm" | "windowMs" | "mostTokens">;

/**
 * A bucket holds a tenth of a window, because a bucket of a whole window admits twice the limit in its first window.
 */
const BURST = 0.1;

function burstOf({ rpm, tpm, mostTokens }: Limits): { requests: number; tokens: number } {
  return { requests: Math.max(1, rpm * BURST), tokens: Math.max(mostTokens, tpm * BURST) };
}

/** Token buckets in this process, served in arrival order. */
export function localGatekeeper(limits: Limits, clock: Clock): Gatekeeper {
  const limiter = new MemoryLimiter({ clock });
  const burst = burstOf(limits);
  limiter.setCapacity("requests", limits.rpm, limits.windowMs, { burst: burst.requests });
  limiter.setCapacity("tokens", limits.tpm, limits.windowMs, { burst: burst.tokens });
  return {
    acquire: async (tokens, signal) => {
      await limiter.acquire("requests", { signal });
      await limiter.acquire("tokens", { cost: tokens, signal });
    },
    setReachable: () => {},
    close: () => limiter.close(),
  };
}

const AWAY_MS = 1_000;

/**
 * A client of the central bucket. A refused client sleeps for the time that the bucket returned and asks again, as
 * clients of Redis token buckets do. While the server is unreachable the client polls.
 */
export function centralGatekeeper(bucket: CentralBucket, sleep: Sleep): Gatekeeper {
  let isReachable = true;
  return {
    acquire: async (tokens, signal) => {
      for (;;) {
        await sleep(CENTRAL_ROUND_TRIP_MS, signal);
        const waitMs = isReachable ? bucket.take(tokens) : AWAY_MS;
        if (waitMs === 0) return;
        await sleep(waitMs, signal);
      }
    },
    setReachable: (isThere) => {
      isReachable = isThere;
    },
    close: async () => {},
  };
}

/** The central buckets of this process, by namespace. */
export class CentralBuckets {
  readonly #buckets = new Map<string, CentralBucket>();

  of({ namespace, ...limits }: Limits & Pick<AgentTask, "namespace">, clock: Clock): CentralBucket {
    const bucket = this.#buckets.get(namespace) ?? new CentralBucket(limits, burstOf(limits), clock);
    this.#buckets.set(namespace, bucket);
    return bucket;
  }
}
