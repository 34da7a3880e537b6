import type { ShareReply, ShareReport } from "@hivepace/core";
import { type Agent, newAgent } from "../../src/engine/agent.ts";
import type { Ask } from "../../src/engine/ask.ts";
import type { Effects, Event } from "../../src/engine/events.ts";
import { newPool } from "../../src/engine/pool.ts";
import { step } from "../../src/engine/step.ts";
import { TUNING } from "../../src/engine/tuning.ts";

const TICK_MS = 50;

/** Many calls together: one process has to speak for all agents. */
export type ShareAll = (reports: readonly ShareReport[]) => Promise<ShareReply[]>;

/** Agents of the engine, in real time and in one process, that want more than there is all the time. One wakes in each tick or none. */
export class StoreCrowd {
  readonly #agents: Agent[];
  readonly #limit: number;
  readonly #windowMs: number;
  readonly #share: ShareAll;
  #asks: [agent: Agent, ask: Ask][] = [];
  readonly #slots: Agent[][];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #tick = 0;
  /** When something was sent, in order. */
  readonly sent: number[] = [];
  failures = 0;

  constructor(agents: number, limit: number, windowMs: number, share: ShareAll) {
    this.#limit = limit;
    this.#windowMs = windowMs;
    this.#share = share;
    const store = { aggregation: "store", above: 300, below: 200 } as const;
    const rules = {
      reduceFactor: 0.5,
      recoveryFactor: 1.1,
      recoveryIntervalMs: 30_000,
      most: 1,
      cooldownMs: windowMs,
      least: 1 / limit,
    };
    const now = performance.now();
    this.#agents = Array.from({ length: agents }, (_, i) => {
      const base = { id: `agent-${i}`, life: 1, weight: 1, isolation: "balanced", expectedAgents: undefined } as const;
      const agent = newAgent({ ...base, hasBus: false, echoes: false, store, tuning: TUNING }, now);
      agent.pools.set("pool", newPool({ name: "pool", limits: [limit], windowMs, rules }));
      return agent;
    });
    const ticks = TUNING.heartbeatMs / TICK_MS;
    this.#slots = Array.from({ length: ticks }, (_, t) => this.#agents.filter((_, i) => i % ticks === t));
  }

  start(): void {
    const startedAt = performance.now();
    const next = (): void => {
      for (const agent of this.#slots[this.#tick++ % this.#slots.length] ?? [])
        this.#do(agent, { type: "want", pool: "pool", next: [1], all: [3] });
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

  /** The most that was sent in any window, in limits. */
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
        this.#do(agent, { type: "answer", seq, reply: replies[i] as ShareReply });
        while (this.#do(agent, { type: "take", pool: "pool", cost: [1] }).taken) this.sent.push(performance.now());
      }
    } catch {
      this.failures += asks.length;
      for (const [agent, { sequence: seq }] of asks) this.#do(agent, { type: "unanswered", seq });
    }
  }
}
