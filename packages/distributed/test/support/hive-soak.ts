import { memoryBus } from "@hivepace/bus";
import { type ChaosBus, chaosBus } from "@hivepace/bus/testing";
import type { Lease } from "@hivepace/core";
import { memorySyncStore, SyncMemory, seededRandom } from "@hivepace/core/testing";
import { createHive, type Hive } from "../../src/index.ts";
import { TestHives } from "./hives.ts";

/** The limit of each of the two endpoints. */
export const LIMIT = { rpmLimit: 300, tpmLimit: 60_000 };
const MINUTE = 60_000;

interface Worker {
  hive: Hive;
  bus: ChaosBus;
}

/** Hives with all kinds of random faults, in virtual time. */
export class HiveSoak {
  readonly world = new TestHives();
  readonly memory = new SyncMemory(this.world.clock);
  readonly random: () => number;
  readonly workers: Worker[] = [];
  readonly sent: { at: number; tokens: number }[] = [];
  granted = 0;
  #names = 0;
  #isOver = false;
  readonly #calls = new Set<Promise<void>>();

  constructor(seed: number) {
    this.random = seededRandom(seed);
  }

  async start(): Promise<Worker> {
    const { clock, broker } = this.world;
    const bus = chaosBus(await memoryBus(broker, { clock }), {
      seed: this.#names,
      clock,
      drop: 0.05,
      duplicate: 0.02,
      delay: [1, 60],
    });
    const hive = await createHive({
      clock,
      bus,
      sync: memorySyncStore({ memory: this.memory }),
      agentId: `hive-${this.#names++}`,
      namespace: "soak",
      endpoints: this.endpoints(1),
      keys: { acme: { rpmLimit: 200 }, beta: { tpmLimit: 20_000 } },
      leaseMs: 30_000,
      maxQueue: 200,
      recoveryIntervalMs: 5_000,
      recoveryFactor: 1.5,
    });
    const worker = { hive, bus };
    this.workers.push(worker);
    for (let i = 0; i < 3; i++) this.#begin(worker);
    return worker;
  }

  endpoints(factor: number) {
    return ["eu", "us"].map((id) => ({ id, rpmLimit: LIMIT.rpmLimit * factor, tpmLimit: LIMIT.tpmLimit * factor }));
  }

  /** Causes one random fault or change, and lets time pass until its effects are over. */
  async trouble(): Promise<void> {
    const worker = this.#pick(this.workers);
    switch (Math.floor(this.random() * 7)) {
      case 0:
        this.world.broker.stop();
        await this.world.clock.run(this.random() * 20_000);
        this.world.broker.start();
        break;
      case 1:
        worker.bus.chaos.partition = true;
        await this.world.clock.run(this.random() * 30_000);
        worker.bus.chaos.partition = false;
        break;
      case 2:
        await this.leave(worker, 5_000);
        await this.start();
        break;
      case 3:
        worker.hive.announceReduced("eu", "429", { retryAfterMs: this.random() < 0.5 ? 1_000 : undefined });
        break;
      case 4:
        this.memory.pages.clear();
        break;
      case 5:
        for (const { hive } of this.workers) hive.reconfigure({ endpoints: this.endpoints(0.5) });
        await this.world.clock.run(10_000);
        for (const { hive } of this.workers) hive.reconfigure({ endpoints: this.endpoints(1) });
        break;
      default:
        worker.hive.observe({ endpoint: "us", limits: { requests: { limit: 300, remaining: 300 } } });
    }
    await this.world.clock.run(5_000);
  }

  async leave(worker: Worker, drainMs: number): Promise<void> {
    this.workers.splice(this.workers.indexOf(worker), 1);
    const closed = worker.hive.close({ drainMs }).then(() => worker.bus.close());
    await this.world.clock.run(20_000);
    await closed;
  }

  async end(): Promise<void> {
    this.#isOver = true;
    for (const worker of [...this.workers]) await this.leave(worker, 0);
    await Promise.all(this.#calls);
  }

  #begin(worker: Worker): void {
    const call = this.#call(worker).finally(() => this.#calls.delete(call));
    this.#calls.add(call);
  }

  /** Acquires in every way that the API offers, until the hive is closed. */
  async #call({ hive }: Worker): Promise<void> {
    const { clock } = this.world;
    while (!this.#isOver) {
      const tokens = 1 + Math.floor(this.random() ** 4 * 5_000);
      const abort = new AbortController();
      const cancel = clock.after(this.random() * 20_000, () => abort.abort(new Error("enough")));
      const key = this.#pick([undefined, "acme", "beta"]);
      const request = { tokens, key, signal: abort.signal, timeoutMs: this.random() < 0.3 ? 3_000 : undefined };
      try {
        const where = this.random() < 0.5 ? { endpoint: this.#pick(["eu", "us"]) } : { route: ["eu", "us"] };
        const lease = await hive.acquire({ ...request, ...where });
        this.granted++;
        const used = this.#end(lease, tokens);
        if (lease.endpoint === "eu" && used !== undefined) this.sent.push({ at: clock.now(), tokens: used });
      } catch (error) {
        if ((error as { code?: unknown }).code === "LIMITER_CLOSED") return;
      } finally {
        cancel();
      }
      await new Promise<void>((resolve) => void clock.after(this.random() * 500, resolve));
    }
  }

  /**
   * Ends the lease in one of several ways. Returns the tokens that the provider counts, or undefined for a refused
   * call.
   */
  #end(lease: Lease, tokens: number): number | undefined {
    const chance = this.random();
    if (chance < 0.85) {
      const used = Math.floor(tokens * (0.5 + this.random() / 2));
      lease.done({ tokens: used });
      return used;
    }
    if (chance < 0.88) {
      lease.refused({ reason: "529", kind: "overload", retryAfterMs: 200 });
      return undefined;
    }
    // The lease expires; a renewed one expires later.
    if (chance < 0.9) lease.renew();
    return tokens;
  }

  #pick<T>(values: readonly T[]): T {
    return values[Math.floor(this.random() * values.length)] as T;
  }
}

/** The largest numbers of requests and tokens in any window of a minute. */
export function busiestMinute(sent: readonly { at: number; tokens: number }[]) {
  let [first, tokens, mostRequests, mostTokens] = [0, 0, 0, 0];
  for (const [i, call] of sent.entries()) {
    tokens += call.tokens;
    for (let old = sent[first]; old && old.at <= call.at - MINUTE; old = sent[first]) {
      tokens -= old.tokens;
      first++;
    }
    mostRequests = Math.max(mostRequests, i - first + 1);
    mostTokens = Math.max(mostTokens, tokens);
  }
  return { requests: mostRequests, tokens: mostTokens };
}
