import { setTimeout as pause } from "node:timers/promises";
import { type FakeProvider, startProvider } from "@hivepace/provider";
import type { OwnServer } from "@hivepace/servers";
import { bytes } from "@hivepace/test-kit";
import { PRESENCE_SUBJECT } from "../../src/index.ts";
import type { AgentTask } from "../programs/agent.ts";
import { type BrokerKind, openBus } from "./brokers.ts";
import { type Child, isMember, largest, startAgent, stop, until } from "./process-swarm.ts";
import { bundled } from "./program.ts";

/** Enforced by nobody: the provider accepts much more, so that every call above the limit is seen. */
const LENIENT = 20;

export interface FaultPlan {
  readonly broker: BrokerKind;
  readonly agents: number;
  readonly limit: number;
  readonly windowMs: number;
  readonly secret?: string;
  readonly store?: string;
  readonly delayMs?: number;
}

/** A swarm of processes on a real broker, whose calls are counted by a provider that accepts all of them. */
export class FaultySwarm {
  readonly plan: FaultPlan;
  readonly provider: FakeProvider;
  readonly #file: string;
  readonly #url: string;
  children: Child[] = [];

  private constructor(plan: FaultPlan, provider: FakeProvider, file: string, url: string) {
    this.plan = plan;
    this.provider = provider;
    this.#file = file;
    this.#url = url;
  }

  /** Starts all agents, and waits until they know each other and have used a window. */
  static async start(server: OwnServer, plan: FaultPlan): Promise<FaultySwarm> {
    const { limit, windowMs } = plan;
    const provider = await startProvider({ rpm: LENIENT * limit, windowMs, limitHeaders: false });
    const swarm = new FaultySwarm(plan, provider, await bundled("agent"), server.url);
    swarm.startAgents();
    await swarm.settled(plan.agents);
    await pause(windowMs);
    return swarm;
  }

  startAgents(): void {
    const { broker, agents, limit: capacity, windowMs, secret, store, delayMs } = this.plan;
    for (let i = 0; i < agents; i++) {
      const task: AgentTask = {
        broker,
        url: this.#url,
        agentId: `agent-${i}`,
        provider: this.provider.url,
        capacity,
        windowMs,
        // Behind a slow bus, a few callers in a loop could not use the limit.
        callers: 24,
        recoveryIntervalMs: 30_000,
        recoveryFactor: 1.1,
        secret,
        store,
        delayMs,
      };
      this.children.push(startAgent(this.#file, task));
    }
  }

  /** Waits until every agent knows this number of agents. */
  settled(members: number): Promise<void> {
    return until(this.children, (child) => isMember(child, members), "all know each other");
  }

  /** Kills some of the agents without a goodbye. */
  kill(count: number): void {
    for (const { process } of this.children.splice(0, count)) process.kill("SIGKILL");
  }

  /** The part of the limit that is used from now on. */
  async use(forMs: number): Promise<number> {
    const before = this.provider.log.length;
    await pause(forMs);
    return ((this.provider.log.length - before) / this.plan.limit) * (this.plan.windowMs / forMs);
  }

  /** The largest number of calls in any window, in limits. */
  get max(): number {
    return largest(this.provider.log, this.plan.windowMs) / this.plan.limit;
  }

  /** A stranger on the broker: what it can read, and a way to say something. */
  async stranger() {
    const bus = await openBus(this.plan.broker, this.#url);
    const spoken = new Map<string, Record<string, unknown> & { seq: number }>();
    const recorded: Uint8Array[] = [];
    await bus.subscribe(PRESENCE_SUBJECT, (payload) => {
      const message = JSON.parse(new TextDecoder().decode(payload));
      if (message.isForged) return;
      spoken.set(message.agent_id, message);
      recorded.push(payload);
    });
    const say = (message: object) =>
      bus.publish(PRESENCE_SUBJECT, bytes(JSON.stringify({ ...message, isForged: true })));
    return { bus, spoken, recorded, say };
  }

  async close(): Promise<void> {
    await Promise.all(this.children.map(stop));
    await this.provider.close();
  }
}
