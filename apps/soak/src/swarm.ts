import { setTimeout as pause } from "node:timers/promises";
import type { FakeProvider } from "@hivepace/provider";
import type { OwnServer } from "@hivepace/servers";
import { Child } from "./child.ts";
import type { Leak } from "./options.ts";
import type { AgentTask, BrokerKind } from "./words.ts";

/** The fraction of the provider's limit that agents are configured with, because transit times of requests vary. */
const MARGIN = 0.95;
/** The provider's limit per window, for each agent. */
const LIMIT_EACH = 10;
export const WINDOW_MS = 2_000;
/** The time limit for a recovery, generous enough for a busy machine. */
const PATIENCE_MS = 300_000;

export interface SwarmParts {
  readonly broker: BrokerKind;
  readonly server: OwnServer;
  readonly provider: FakeProvider;
  /** The agents' program. */
  readonly file: string;
  /** Directory for temporary files of agents. */
  readonly folder: string;
  readonly limit: number;
  readonly patienceMs: number;
  readonly leaks: readonly Leak[];
  readonly signal: AbortSignal;
}

/** The processes on one broker: permanent ones, one that is replaced by faults, and temporary guests. */
export class Swarm {
  readonly parts: SwarmParts;
  readonly staying: readonly Child[];
  replaceable: Child;
  guests: Child[] = [];
  /** Processes that did not exit by themselves when they should have. */
  readonly stuck: string[] = [];
  #names = 0;

  constructor(parts: SwarmParts, agents: number) {
    this.parts = parts;
    this.staying = Array.from({ length: agents - 1 }, () => this.start());
    this.replaceable = this.start();
  }

  get all(): readonly Child[] {
    return [...this.staying, this.replaceable, ...this.guests];
  }

  start(): Child {
    const { broker, server, provider, file, folder, limit, patienceMs, leaks } = this.parts;
    const agentId = `agent-${this.#names++}`;
    const capacity = limit * MARGIN;
    const task: AgentTask = {
      broker,
      url: server.url,
      agentId,
      provider: provider.url,
      capacity,
      windowMs: WINDOW_MS,
      patienceMs,
      leaks,
    };
    return new Child(file, task, folder);
  }

  /** Waits until all agents know each other and have their whole limit. */
  async healed(): Promise<void> {
    // Only states received from now on count.
    for (const child of this.all) child.state = undefined;
    const { length } = this.all;
    const isWell = ({ state }: Child) => state?.mode === "member" && state.members === length && state.level === 1;
    await this.until(() => this.all.every(isWell), `all ${length} agents know each other and have recovered`);
  }

  async until(holds: () => boolean, what: string): Promise<void> {
    const deadline = performance.now() + PATIENCE_MS;
    while (!holds()) {
      this.parts.signal.throwIfAborted();
      const dead = this.all.find(({ isAlive }) => !isAlive);
      if (dead) throw new Error(`${dead.end}\nwhile waiting until ${what}`);
      if (performance.now() > deadline) {
        const states = this.all.map(({ id, state }) => `${id} ${JSON.stringify(state)}`);
        throw new Error(`not reached within ${PATIENCE_MS} ms: ${what}\n${states.join("\n")}`);
      }
      await pause(10);
    }
  }

  /** Returns the accepted requests during `forMs`, as a fraction of the limit. */
  async use(forMs: number): Promise<number> {
    const { provider, limit, signal } = this.parts;
    const before = provider.tally.accepted;
    const from = performance.now();
    await pause(forMs, undefined, { signal });
    return ((provider.tally.accepted - before) / (performance.now() - from)) * (WINDOW_MS / limit);
  }

  async leave(child: Child): Promise<void> {
    if (!(await child.leave())) this.stuck.push(child.end);
  }

  /** Kills all processes, in whatever state. */
  async end(): Promise<void> {
    await Promise.all(this.all.filter(({ isAlive }) => isAlive).map((child) => child.kill()));
  }
}

export function limitFor(agents: number): number {
  return agents * LIMIT_EACH;
}
