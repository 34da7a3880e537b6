import { addQuota } from "./agenda.ts";
import { type Agent, type AgentConfig, newAgent } from "./agent.ts";
import type { Amounts } from "./amounts.ts";
import type { Effects, Event } from "./events.ts";
import type { Message, QuotaReport } from "./message.ts";
import { newQuota, type Quota, type QuotaConfig } from "./quota.ts";
import { step } from "./step.ts";
import { TUNING } from "./tuning.ts";

export const WINDOW_MS = 60_000;

export const rules = {
  reduceFactor: 0.5,
  recoveryFactor: 1.1,
  recoveryIntervalMs: 30_000,
  levelMax: 1,
  cooldownMs: WINDOW_MS,
  levelMin: 0.001,
};

/** An agent with a quota of 1,000, for table tests. */
export function testAgent(
  id = "a",
  config: Partial<AgentConfig> = {},
  quota: Partial<QuotaConfig> = {},
  now = 0,
): Agent {
  const agent = newAgent(
    {
      id,
      incarnation: 1,
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
  addQuota(agent, newQuota({ name: "p", limits: [1_000], windowMs: WINDOW_MS, rules, ...quota }, -Infinity));
  return agent;
}

export function quotaIn(agent: Agent): Quota {
  return agent.quotas.get("p") as Quota;
}

/** A message of an agent without usage and demand, apart from the given fields. */
export function word(
  id: string,
  seq: number,
  message: Partial<Message> = {},
  quota: Partial<QuotaReport> = {},
): Message {
  const sent = quota.spentTotal ?? [0];
  return {
    id,
    incarnation: 1,
    seq,
    upMs: 100_000,
    nextMs: 1_000,
    weight: 1,
    members: 1,
    bye: false,
    quotas: [
      {
        name: "p",
        windowMs: WINDOW_MS,
        limits: [1_000],
        spentTotal: sent,
        refundedTotal: [0],
        refundAgeMs: 0,
        used: sent,
        bins: [sent],
        demand: [0],
        claim: undefined,
        virtualTime: 0,
        level: undefined,
        joinSnapshot: undefined,
        ...quota,
      },
    ],
    ...message,
  };
}

/** Agents on a bus without loss and delay. Agents in `unreachable` receive nothing. */
export class TestSwarm {
  readonly agents: Agent[];
  readonly unreachable = new Set<Agent>();
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
    return this.do(agent, { type: "take", quota: "p", cost }).taken;
  }

  want(agent: Agent, next: Amounts | undefined, all = next): void {
    this.do(agent, { type: "want", quota: "p", next, ...(all ? { all } : {}) });
  }

  /** Advances time in steps of 50 ms; every agent wakes at each step. */
  pass(ms: number): void {
    for (const end = this.now + ms; this.now < end; ) {
      this.now = Math.min(end, this.now + 50);
      for (const agent of this.agents) if (!this.gone.has(agent)) this.do(agent, { type: "wake" });
    }
  }

  #carry(message: Message): void {
    for (const agent of this.agents)
      if (!this.unreachable.has(agent) && !this.gone.has(agent)) this.do(agent, { type: "receive", message });
  }
}

/** A swarm of this many agents that have joined and know each other. */
export function testSwarm(
  count: number,
  config: Partial<AgentConfig> = {},
  quota: Partial<QuotaConfig> = {},
): TestSwarm {
  const swarm = new TestSwarm(Array.from({ length: count }, (_, i) => testAgent(`agent-${i}`, config, quota)));
  swarm.pass(3_000);
  return swarm;
}
