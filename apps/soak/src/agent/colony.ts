import type { MessageBus } from "@hivepace/bus";
import type { SyncStore } from "@hivepace/core";
import { createDistributedLimiter, createHive, type DistributedLimiter, type Hive } from "@hivepace/distributed";
import { createLimitedFetch } from "@hivepace/fetch";
import { redisSync } from "@hivepace/sync-redis";
import type { Redis } from "ioredis";
import type { AgentTask, Word } from "../words.ts";
import { openBus, openClient } from "./bus.ts";
import { Callers } from "./callers.ts";

export const NAMESPACE = "soak";
export const SECRET = "a secret of this swarm alone";
export const PROVIDER = "provider";
const CALLERS = 4;
const KEYS = 200;

/** The long-lived parts of one process of the swarm: a bus, a hive and a limiter on it, and calls through them. */
export class Colony {
  readonly task: AgentTask;
  readonly bus: MessageBus;
  readonly hive: Hive;
  readonly limiter: DistributedLimiter;
  readonly client: Redis | undefined;
  readonly store: SyncStore | undefined;
  /** The signal passed to every call, from the first to the last. */
  readonly life = new AbortController();
  readonly callers: Callers;
  readonly #fetch: typeof fetch;
  #calls = 0;

  private constructor(
    task: AgentTask,
    say: (word: Word) => void,
    parts: Pick<Colony, "bus" | "hive" | "limiter" | "client" | "store">,
  ) {
    this.task = task;
    ({ bus: this.bus, hive: this.hive, limiter: this.limiter, client: this.client, store: this.store } = parts);
    this.#fetch = createLimitedFetch<typeof fetch>(this.hive, {
      endpoint: PROVIDER,
      key: () => `tenant-${this.#calls % (2 * KEYS)}`,
      session: () => `session-${this.#calls}`,
      fetch: async (input, init) => {
        const response = await fetch(input, init);
        if (response.status === 429) say({ type: "refused", at: Date.now() });
        return response;
      },
    });
    this.callers = new Callers(CALLERS, () => this.#call());
  }

  static async open(task: AgentTask, say: (word: Word) => void): Promise<Colony> {
    const { agentId, capacity, windowMs } = task;
    const bus = await openBus(task);
    const client = openClient(task);
    const store = client && (await redisSync(client, { syncTimeoutMs: 1_000 }));
    const shared = { bus, sync: store, namespace: NAMESPACE, secret: SECRET };
    const hive = await createHive({
      ...shared,
      agentId,
      endpoints: [{ id: PROVIDER, rpmLimit: capacity }],
      // Half of the keys are configured, the others get limits on demand.
      keys: Object.fromEntries(Array.from({ length: KEYS }, (_, i) => [`tenant-${i}`, { rpmLimit: 1_000 }])),
      limitsForKey: () => ({ rpmLimit: 1_000, tpmLimit: 1_000_000 }),
      windowMs,
      recoveryIntervalMs: 500,
      recoveryFactor: 1.5,
      onCapacityChange: ({ reason }) => {
        if (!/recover/i.test(reason)) say({ type: "cut", at: Date.now() });
      },
    });
    const limiter = await createDistributedLimiter({ ...shared, namespace: "soak-limiter", agentId });
    limiter.setCapacity("work", 1_000, windowMs);
    return new Colony(task, say, { bus, client, store, hive, limiter });
  }

  async close(): Promise<void> {
    const calls = this.callers.end();
    await this.hive.close({ drainMs: 500 });
    await this.limiter.close();
    await this.store?.close();
    await this.bus.close();
    this.client?.disconnect();
    await calls;
  }

  async #call(): Promise<void> {
    this.#calls++;
    const { agentId, provider } = this.task;
    const body = JSON.stringify({ model: "m", max_tokens: 1, messages: [{ role: "user", content: "x" }] });
    // A keep-alive socket would count as a held handle after the call.
    const headers = { "content-type": "application/json", "x-agent": agentId, connection: "close" };
    await this.limiter.run("work", async () => {
      const init = { method: "POST", headers, body, signal: this.life.signal };
      const response = await this.#fetch(`${provider}/v1/chat/completions`, init);
      await response.arrayBuffer();
    });
  }
}
