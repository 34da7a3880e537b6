import type { AllocationReply, AllocationRequest } from "@hivepace/core";
import {
  type Agent,
  type Effects,
  type Event,
  newAgent,
  type StoreRequest,
  step,
  TUNING,
} from "../../src/engine/index.ts";

const TICK_MS = 50;

/** Sends many requests together, because one process speaks for all agents. */
export type AllocateAll = (reports: readonly AllocationRequest[]) => Promise<AllocationReply[]>;

/**
 * Engine agents in real time in one process whose demand always exceeds the limit. Each agent wakes in one tick of
 * every heartbeat.
 */
export class StoreCrowd {
  readonly #agents: Agent[];
  readonly #limit: number;
  readonly #windowMs: number;
  readonly #share: AllocateAll;
  #asks: [agent: Agent, ask: StoreRequest][] = [];
  readonly #slots: Agent[][];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #tick = 0;
  /** Times of all grants, in order. */
  readonly sent: number[] = [];
  failures = 0;

  constructor(agents: number, limit: number, windowMs: number, share: AllocateAll) {
    this.#limit = limit;
    this.#windowMs = windowMs;
    this.#share = share;
    const store = { aggregation: "store", above: 300, below: 200 } as const;
    const rules = {
      reduceFactor: 0.5,
      recoveryFactor: 1.1,
      recoveryIntervalMs: 30_000,
      levelMax: 1,
      cooldownMs: windowMs,
      levelMin: 1 / limit,
    };
    const now = performance.now();
    this.#agents = Array.from({ length: agents }, (_, i) => {
      const base = {
        id: `agent-${i}`,
        incarnation: 1,
        weight: 1,
        isolation: "balanced",
        expectedAgents: undefined,
      } as const;
      const agent = newAgent({ ...base, hasBus: false, echoes: false, store, tuning: TUNING }, now);
      step(agent, { type: "configure", config: { name: "pool", limits: [limit], windowMs, rules } }, now);
      return agent;
    });
    const ticks = TUNING.heartbeatMs / TICK_MS;
    this.#slots = Array.from({ length: ticks }, (_, t) => this.#agents.filter((_, i) => i % ticks === t));
  }

  start(): void {
    const startedAt = performance.now();
    const next = (): void => {
      for (const agent of this.#slots[this.#tick++ % this.#slots.length] ?? [])
        this.#do(agent, { type: "want", quota: "pool", next: [1], all: [3] });
      void this.#flush();
      this.#timer = setTimeout(next, Math.max(0, startedAt + this.#tick * TICK_MS - performance.now()));
    };
    next();
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  sentSince(time: number): number {
    return this.sent.filter((at) => at >= time).length;
  }

  /** The largest number of grants in any window, in limits. */
  get max(): number {
    let first = 0;
    let most = 0;
    this.sent.forEach((at, i) => {
      while ((this.sent[first] as number) <= at - this.#windowMs) first++;
      most = Math.max(most, i - first + 1);
    });
    return most / this.#limit;
  }

  #do(agent: Agent, event: Event): Effects {
    const effects = step(agent, event, performance.now());
    if (effects.ask) this.#asks.push([agent, effects.ask]);
    return effects;
  }

  async #flush(): Promise<void> {
    const asks = this.#asks;
    this.#asks = [];
    try {
      const replies = await this.#share(asks.map(([, ask]) => ({ ...ask, namespace: "crowd" })));
      for (const [i, [agent, { sequence: seq }]] of asks.entries()) {
        this.#do(agent, { type: "store-reply", seq, reply: replies[i] as AllocationReply });
        while (this.#do(agent, { type: "take", quota: "pool", cost: [1] }).taken) this.sent.push(performance.now());
      }
    } catch {
      this.failures += asks.length;
      for (const [agent, { sequence: seq }] of asks) this.#do(agent, { type: "store-failure", seq });
    }
  }
}
