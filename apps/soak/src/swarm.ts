import { setTimeout as pause } from "node:timers/promises";
import type { FakeProvider } from "@hivepace/provider";
import type { OwnServer } from "@hivepace/servers";
import { Child } from "./child.ts";
import type { Leak } from "./options.ts";
import type { AgentTask, BrokerKind } from "./words.ts";

/** What an agent is asked to stay below: a request takes its time on the way, and not always the same. */
const MARGIN = 0.95;
/** What the provider enforces, for each agent in each window. */
const LIMIT_EACH = 10;
export const WINDOW_MS = 2_000;
/** Longer than a swarm takes to heal, on a machine that is busy with other things. */
const PATIENCE_MS = 300_000;

export interface SwarmParts {
  readonly broker: BrokerKind;
  readonly server: OwnServer;
  readonly provider: FakeProvider;
  /** The agents' program. */
  readonly file: string;
  /** For temporary files of agents. */
  readonly folder: string;
  readonly limit: number;
  readonly patienceMs: number;
  readonly leaks: readonly Leak[];
  readonly signal: AbortSignal;
}

/** The processes on one broker: those that stay from the first round to the last, one that is replaced, and guests. */
export class Swarm {
  readonly parts: SwarmParts;
  readonly staying: readonly Child[];
  replaceable: Child;
  guests: Child[] = [];
  /** Those that did not end by themselves when they should have. */
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

  /** All know each other and may use all of the limit. */
  async healed(): Promise<void> {
    // What was said before is not known to be so now.
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
      if (dead) throw new Error(`${dead.end}\nbefore: ${what}`);
      if (performance.now() > deadline) {
        const states = this.all.map(({ id, state }) => `${id} ${JSON.stringify(state)}`);
        throw new Error(`waited ${PATIENCE_MS} ms in vain: ${what}\n${states.join("\n")}`);
      }
      await pause(10);
    }
  }

  /** What is accepted meanwhile, in limits per window. */
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

  /** Whatever state they are in. */
  async end(): Promise<void> {
    await Promise.all(this.all.filter(({ isAlive }) => isAlive).map((child) => child.kill()));
  }
}

export function limitFor(agents: number): number {
  return agents * LIMIT_EACH;
}
