import { type Agent, type AgentConfig, newAgent } from "./agent.ts";
import type { Amounts } from "./amounts.ts";
import type { Effects, Event } from "./events.ts";
import type { Message, PoolReport } from "./message.ts";
import { newPool, type Pool, type PoolConfig } from "./pool.ts";
import { step } from "./step.ts";
import { TUNING } from "./tuning.ts";

export const WINDOW_MS = 60_000;

export const rules = {
  reduceFactor: 0.5,
  recoveryFactor: 1.1,
  recoveryIntervalMs: 30_000,
  most: 1,
  cooldownMs: WINDOW_MS,
  least: 0.001,
};

/** An agent with a pool of 1,000, for tables of what happens to it. */
export function testAgent(id = "a", config: Partial<AgentConfig> = {}, pool: Partial<PoolConfig> = {}, now = 0): Agent {
  const agent = newAgent(
    {
      id,
      life: 1,
      weight: 1,
      isolation: "balanced",
      expectedAgents: undefined,
      hasBus: true,
      echoes: true,
      tuning: TUNING,
      ...config,
    },
    now,
  );
  agent.pools.set("p", newPool({ name: "p", limits: [1_000], windowMs: WINDOW_MS, rules, ...pool }));
  return agent;
}

export function poolIn(agent: Agent): Pool {
  return agent.pools.get("p") as Pool;
}

/** A message as an agent would send it that has used nothing and wants nothing, but for what is given. */
export function word(id: string, seq: number, message: Partial<Message> = {}, pool: Partial<PoolReport> = {}): Message {
  const sent = pool.sent ?? [0];
  return {
    id,
    life: 1,
    seq,
    upMs: 100_000,
    nextMs: 1_000,
    weight: 1,
    members: 1,
    bye: false,
    pools: [
      {
        name: "p",
        windowMs: WINDOW_MS,
        limits: [1_000],
        sent,
        back: [0],
        backAgeMs: 0,
        used: sent,
        bins: [sent],
        waiting: [0],
        claim: undefined,
        turn: 0,
        level: undefined,
        seen: undefined,
        ...pool,
      },
    ],
    ...message,
  };
}

/** Agents on a bus that loses nothing and takes no time. Whoever is in `deaf` hears nothing. */
export class TestSwarm {
  readonly agents: Agent[];
  readonly deaf = new Set<Agent>();
  readonly gone = new Set<Agent>();
  now = 0;

  constructor(agents: readonly Agent[]) {
    this.agents = [...agents];
  }

  do(agent: Agent, event: Event): Effects {
    const effects = step(agent, event, this.now);
    if (effects.publish) this.#carry(effects.publish);
    return effects;
  }

  take(agent: Agent, ...cost: number[]): boolean {
    return this.do(agent, { type: "take", pool: "p", cost }).taken;
  }

  want(agent: Agent, next: Amounts | undefined, all = next): void {
    this.do(agent, { type: "want", pool: "p", next, ...(all ? { all } : {}) });
  }

  /** Time passes in steps of 50 ms, in which everyone wakes. */
  pass(ms: number): void {
    for (const end = this.now + ms; this.now < end; ) {
      this.now = Math.min(end, this.now + 50);
      for (const agent of this.agents) if (!this.gone.has(agent)) this.do(agent, { type: "wake" });
    }
  }

  #carry(message: Message): void {
    for (const agent of this.agents)
      if (!this.deaf.has(agent) && !this.gone.has(agent)) this.do(agent, { type: "hear", message });
  }
}

/** So many of them, which have listened long enough and know each other. */
export function testSwarm(count: number, config: Partial<AgentConfig> = {}, pool: Partial<PoolConfig> = {}): TestSwarm {
  const swarm = new TestSwarm(Array.from({ length: count }, (_, i) => testAgent(`agent-${i}`, config, pool)));
  swarm.pass(3_000);
  return swarm;
}
