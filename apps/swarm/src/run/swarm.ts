import { seededRandom } from "@hivepace/core/testing";
import type { AgentTask, Word } from "../agent/words.ts";
import { backlogOf, callsPerSecond } from "../demand.ts";
import type { Family } from "../metrics/family.ts";
import type { Plan } from "../plan.ts";
import { type AgentHost, type HostKind, startHost } from "./agent-host.ts";
import { Survey } from "./survey.ts";
import { type SwarmNews, Watch } from "./watch.ts";

/** Where a swarm runs. */
export interface Ground {
  readonly agentFile: URL;
  readonly bus: string;
  readonly namespace: string;
  readonly providerUrl: string;
  /** "one thread": all agents share one, as those do that do not talk to each other. */
  readonly hosts: HostKind | "one thread";
  /** The agents can be asked for their metrics. What happens in a thread is counted together, so each has its own. */
  readonly isMeasured?: boolean | undefined;
}

interface Seat {
  readonly index: number;
  readonly host: AgentHost;
  startedAt: number | undefined;
  endedAt: number | undefined;
}

/** What one agent wanted, and for how long it was there to want it. */
export interface Wanted {
  readonly agentId: string;
  readonly calls: number;
  readonly tokens: number;
  readonly aliveMs: number;
}

const GOODBYE_MS = 3_000;

/** The agents, their demand, and what happens to them. */
export class Swarm {
  readonly watch: Watch;
  readonly #plan: Plan;
  readonly #ground: Ground;
  readonly #now: () => number;
  readonly #onCrash: (agentId: string) => void;
  readonly #seats = new Map<string, Seat>();
  readonly #last = new Map<string, { calls: number; tokens: number; failed: number }>();
  readonly #survey = new Survey();
  readonly #random: () => number;
  #failure: string | undefined;
  #isCutOff = false;
  #isStopping = false;

  constructor(
    plan: Plan,
    ground: Ground,
    on: { news(news: SwarmNews): void; crashed(agentId: string): void },
    now: () => number,
  ) {
    this.#plan = plan;
    this.#ground = ground;
    this.#now = now;
    this.#onCrash = on.crashed;
    this.#random = seededRandom(plan.seed + 104_729);
    this.watch = new Watch(plan.scenario.pacing === "hive", on.news);
  }

  /** Those who run, by their names. */
  get running(): string[] {
    return [...this.watch.agents.keys()];
  }

  get areAllStarted(): boolean {
    return this.running.every((agentId) => this.#seats.get(agentId)?.startedAt !== undefined);
  }

  /** For how long there have been agents that could send. */
  get aliveMs(): number {
    const started = [...this.#seats.values()].flatMap(({ startedAt }) => startedAt ?? []);
    return started.length === 0 ? 0 : this.#now() - Math.min(...started);
  }

  /** Why an agent could not start; undefined when all could. */
  get failure(): string | undefined {
    return this.#failure;
  }

  get wanted(): Wanted[] {
    return [...this.#seats].map(([agentId, { startedAt, endedAt }]) => {
      const { calls = 0, tokens = 0 } = this.#last.get(agentId) ?? {};
      return { agentId, calls, tokens, aliveMs: startedAt === undefined ? 0 : (endedAt ?? this.#now()) - startedAt };
    });
  }

  /** Calls that nobody has an answer to, as far as agents have said. */
  get failed(): number {
    return [...this.#last.values()].reduce((sum, { failed }) => sum + failed, 0);
  }

  /** More agents; those that are there from the start have calls waiting already. */
  join(count: number, atMs: number, isStart = false): string[] {
    const first = this.#seats.size;
    const tasks = Array.from({ length: count }, (_, i) => this.#taskOf(first + i, atMs, isStart));
    const { hosts } = this.#ground;
    if (hosts === "one thread") this.#seat("thread", tasks, first);
    else for (const [i, task] of tasks.entries()) this.#seat(hosts, [task], first + i);
    return tasks.map(({ agentId }) => agentId);
  }

  /** One of them, by the seed, ends without a goodbye; undefined when only one is left. */
  async crash(): Promise<string | undefined> {
    const { running } = this;
    if (running.length < 2) return undefined;
    const agentId = running[Math.floor(this.#random() * running.length)] as string;
    const seat = this.#seats.get(agentId);
    this.#leave(agentId);
    await seat?.host.kill();
    return agentId;
  }

  /** Those who join later, too. */
  setCutOff(isCutOff: boolean): void {
    this.#isCutOff = isCutOff;
    for (const host of this.#hosts()) host.tell({ type: "reach", isCutOff });
  }

  /** Tells everyone what it wants now. */
  setDemand(atMs: number): void {
    for (const agentId of this.running) {
      const seat = this.#seats.get(agentId);
      if (seat === undefined) continue;
      const calls = callsPerSecond(this.#plan, seat.index, atMs);
      seat.host.tell({ type: "demand", agentId, callsPerSecond: calls });
    }
  }

  /** What each agent has measured, without those that do not answer. */
  measure(): Promise<(readonly Family[])[]> {
    const asked = this.running.filter((agentId) => this.#seats.get(agentId)?.startedAt !== undefined);
    return this.#survey.ask(asked, (question) => {
      for (const host of this.#hosts()) host.tell({ type: "measure", question });
    });
  }

  async stop(withinMs = GOODBYE_MS): Promise<void> {
    this.#isStopping = true;
    this.#survey.close();
    await Promise.all([...this.#hosts()].map((host) => host.stop(withinMs)));
  }

  #seat(kind: HostKind, tasks: readonly AgentTask[], first: number): void {
    const host = startHost(kind, this.#ground.agentFile, (word) => this.#hear(word));
    for (const [i, { agentId }] of tasks.entries()) {
      this.watch.add(agentId);
      this.#seats.set(agentId, { index: first + i, host, startedAt: undefined, endedAt: undefined });
      void host.gone.then(() => this.#lost(agentId));
    }
    host.tell({ type: "start", tasks });
  }

  #hear(word: Word): void {
    const now = this.#now();
    const seat = this.#seats.get(word.agentId);
    if (seat === undefined) return;
    if (word.type === "started") seat.startedAt = now;
    else if (word.type === "failed") this.#failure ??= `${word.agentId} could not start: ${word.message}`;
    else if (word.type === "state") {
      const { wantedCalls, wantedTokens, failed } = word.state;
      this.#last.set(word.agentId, { calls: wantedCalls, tokens: wantedTokens, failed });
    } else if (word.type === "measured") this.#survey.hear(word);
    this.watch.hear(word, now);
  }

  /** It ended by itself. */
  #lost(agentId: string): void {
    if (this.#isStopping || !this.watch.agents.has(agentId)) return;
    if (this.#seats.get(agentId)?.startedAt === undefined) this.#failure ??= `${agentId} ended before it had started`;
    this.#leave(agentId);
    this.#onCrash(agentId);
  }

  #leave(agentId: string): void {
    const seat = this.#seats.get(agentId);
    if (seat) seat.endedAt = this.#now();
    this.watch.remove(agentId);
    this.#survey.leave(agentId);
  }

  #hosts(): Set<AgentHost> {
    return new Set(this.running.flatMap((agentId) => this.#seats.get(agentId)?.host ?? []));
  }

  #taskOf(index: number, atMs: number, isStart: boolean): AgentTask {
    const plan = this.#plan;
    const { bus, namespace, providerUrl } = this.#ground;
    const agentId = `agent-${index + 1}`;
    return {
      agentId,
      pacing: plan.scenario.pacing,
      bus,
      namespace: plan.isSharing ? namespace : `${namespace}-${agentId}`,
      providerUrl,
      rpm: plan.rpm * plan.margin,
      tpm: plan.tpm * plan.margin,
      windowMs: plan.windowMs,
      heartbeatMs: plan.heartbeatMs,
      recoveryIntervalMs: plan.recoveryIntervalMs,
      medianTokens: plan.medianTokens,
      mostTokens: plan.mostTokens,
      seed: plan.seed + 15_485_863 * (index + 1),
      callsPerSecond: callsPerSecond(plan, index, atMs),
      isCutOff: this.#isCutOff,
      backlog: isStart ? backlogOf(plan, index) : 0,
      isMeasured: this.#ground.isMeasured ?? false,
    };
  }
}
