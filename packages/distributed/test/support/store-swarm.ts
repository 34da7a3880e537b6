import { memoryBroker, memoryBus } from "@hivepace/bus";
import type { SyncStore } from "@hivepace/core";
import { createDistributedLimiter, type DistributedLimiter } from "../../src/index.ts";

export interface StoreSwarmOptions {
  readonly agents: number;
  readonly limit: number;
  readonly windowMs: number;
  readonly heartbeatIntervalMs: number;
  readonly namespace: string;
  /** The agents' stores, assigned in turn. */
  readonly stores: readonly SyncStore[];
}

/** Agents in one process, in real time, that get their limit from a store and whose demand exceeds the limit. */
export class StoreSwarm {
  readonly limiters: DistributedLimiter[] = [];
  /** Times of all grants, in order. */
  readonly sent: number[] = [];
  readonly served: number[];
  readonly #options: StoreSwarmOptions;
  readonly #callers: Promise<void>[] = [];

  constructor(options: StoreSwarmOptions) {
    this.#options = options;
    this.served = new Array<number>(options.agents).fill(0);
  }

  async start(): Promise<void> {
    const { agents, limit, windowMs, heartbeatIntervalMs, namespace, stores } = this.#options;
    const broker = memoryBroker();
    for (let i = 0; i < agents; i++) {
      const limiter = await createDistributedLimiter({
        bus: await memoryBus(broker),
        sync: stores[i % stores.length] as SyncStore,
        aggregation: "store",
        agentId: `agent-${i}`,
        namespace,
        heartbeatIntervalMs,
      });
      limiter.setCapacity("pool", limit, windowMs);
      this.limiters.push(limiter);
      this.#callers.push(this.#call(limiter, i));
      // Spreads the starts, because processes do not start simultaneously.
      if (i % 100 === 99) await new Promise((resolve) => setTimeout(resolve, heartbeatIntervalMs / 20));
    }
  }

  async #call(limiter: DistributedLimiter, index: number): Promise<void> {
    try {
      for (;;) {
        await limiter.acquire("pool");
        this.sent.push(performance.now());
        this.served[index] = (this.served[index] ?? 0) + 1;
        limiter.finish("pool");
      }
    } catch {
      // The limiter was closed.
    }
  }

  sentSince(time: number): number {
    return this.sent.filter((at) => at >= time).length;
  }

  /** The largest number of grants in any window, in limits. */
  get max(): number {
    const { windowMs, limit } = this.#options;
    let first = 0;
    let most = 0;
    this.sent.forEach((at, i) => {
      while ((this.sent[first] as number) <= at - windowMs) first++;
      most = Math.max(most, i - first + 1);
    });
    return most / limit;
  }

  async close(): Promise<void> {
    for (let i = 0; i < this.limiters.length; i += 100)
      await Promise.all(this.limiters.slice(i, i + 100).map((limiter) => limiter.close()));
    await Promise.all(this.#callers);
  }
}
