import { seededRandom } from "@hivepace/core/testing";
import { Histogram } from "../agent/histogram.ts";
import type { AgentTask, Counts, Word } from "../agent/words.ts";
import { callsPerSecond } from "../demand.ts";
import type { Family } from "../metrics/family.ts";
import type { Plan } from "../plan.ts";
import { type AgentHost, type HostKind, startHost } from "./agent-host.ts";
import { Survey } from "./survey.ts";
import { type SwarmNews, Watch } from "./watch.ts";

/** The environment in which a swarm runs. */
export interface Ground {
  readonly agentFile: URL;
  readonly bus: string;
  readonly namespace: string;
  readonly providerUrl: string;
  /** The wall-clock time at which the clocks of all agents start to run faster. */
  readonly epochMs: number;
  /** "one thread": all agents share one thread, for rows whose agents do not communicate. */
  readonly hosts: HostKind | "one thread";
  /** Whether the agents can be asked for metrics. Metrics are per thread, so each measured agent has its own. */
  readonly isMeasured?: boolean | undefined;
}

interface Seat {
  readonly index: number;
  readonly host: AgentHost;
  startedAt: number | undefined;
  endedAt: number | undefined;
}

/** The demand of one agent, and the time for which the agent ran. */
export interface Wanted {
  readonly agentId: string;
  readonly calls: number;
  readonly tokens: number;
  readonly aliveMs: number;
}

const GOODBYE_MS = 3_000;

/** The agents of one row, their demand, and the faults that happen to them. */
export class Swarm {
  readonly watch: Watch;
  readonly #plan: Plan;
  readonly #ground: Ground;
  readonly #now: () => number;
  readonly #onCrash: (agentId: string) => void;
  readonly #seats = new Map<string, Seat>();
  readonly #last = new Map<string, Counts>();
  readonly #latencies = new Histogram();
  /** The host of all agents, when they share one. */
  #shared: AgentHost | undefined;
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
    this.watch = new Watch(plan.pacing === "hive", on.news);
  }

  /** The ids of the running agents. */
  get running(): string[] {
    return [...this.watch.agents.keys()];
  }

  get areAllStarted(): boolean {
    return this.running.every((agentId) => this.#seats.get(agentId)?.startedAt !== undefined);
  }

  /** The reason why an agent could not start; undefined when all could. */
  get failure(): string | undefined {
    return this.#failure;
  }

  get wanted(): Wanted[] {
    return [...this.#seats].map(([agentId, { startedAt, endedAt }]) => {
      const { wantedCalls: calls = 0, wantedTokens: tokens = 0 } = this.#last.get(agentId) ?? {};
      return { agentId, calls, tokens, aliveMs: startedAt === undefined ? 0 : (endedAt ?? this.#now()) - startedAt };
    });
  }

  /** Sums a count over all agents, from their latest reports. */
  total(count: keyof Counts): number {
    return [...this.#last.values()].reduce((sum, counts) => sum + counts[count], 0);
  }

  /** The quantile of the latency of answered calls, in milliseconds. */
  latency(part: number): number | undefined {
    return this.#latencies.quantile(part);
  }

  join(count: number, atMs: number): string[] {
    const first = this.#seats.size;
    const tasks = Array.from({ length: count }, (_, i) => this.#taskOf(first + i, atMs));
    const { hosts } = this.#ground;
    if (hosts === "one thread") this.#seat("thread", tasks, first);
    else for (const [i, task] of tasks.entries()) this.#seat(hosts, [task], first + i);
    return tasks.map(({ agentId }) => agentId);
  }

  /** Crashes a random agent, chosen by the seed. Returns its id, or undefined when only one agent is left. */
  async crash(): Promise<string | undefined> {
    const { running } = this;
    if (running.length < 2) return undefined;
    const agentId = running[Math.floor(this.#random() * running.length)] as string;
    const seat = this.#seats.get(agentId);
    this.#leave(agentId);
    if (this.#shared) this.#shared.send({ type: "crash", agentId });
    else await seat?.host.kill();
    return agentId;
  }

  /** Applies to all agents, including those that join later. */
  setCutOff(isCutOff: boolean): void {
    this.#isCutOff = isCutOff;
    for (const host of this.#hosts()) host.send({ type: "reach", isCutOff });
  }

  /** Sends every agent its demand at this time of the run. */
  setDemand(atMs: number): void {
    for (const agentId of this.running) {
      const seat = this.#seats.get(agentId);
      if (seat === undefined) continue;
      const calls = callsPerSecond(this.#plan, seat.index, atMs);
      seat.host.send({ type: "demand", agentId, callsPerSecond: calls });
    }
  }

  /** Collects the metrics of all agents; those that do not answer are left out. */
  measure(): Promise<(readonly Family[])[]> {
    const asked = this.running.filter((agentId) => this.#seats.get(agentId)?.startedAt !== undefined);
    return this.#survey.ask(asked, (question) => {
      for (const host of this.#hosts()) host.send({ type: "measure", question });
    });
  }

  async stop(withinMs = GOODBYE_MS): Promise<void> {
    this.#isStopping = true;
    this.#survey.close();
    await Promise.all([...this.#hosts()].map((host) => host.stop(withinMs)));
  }

  #seat(kind: HostKind, tasks: readonly AgentTask[], first: number): void {
    const host = this.#shared ?? startHost(kind, this.#ground.agentFile, (word) => this.#receive(word));
    if (this.#ground.hosts === "one thread") this.#shared = host;
    for (const [i, { agentId }] of tasks.entries()) {
      this.watch.add(agentId);
      this.#seats.set(agentId, { index: first + i, host, startedAt: undefined, endedAt: undefined });
      void host.gone.then(() => this.#lost(agentId));
    }
    host.send({ type: "start", tasks });
  }

  #receive(word: Word): void {
    const now = this.#now();
    const seat = this.#seats.get(word.agentId);
    if (seat === undefined) return;
    if (word.type === "started") seat.startedAt = now;
    else if (word.type === "failed") this.#failure ??= `${word.agentId} could not start: ${word.message}`;
    else if (word.type === "state") {
      this.#last.set(word.agentId, word.state);
      for (const ms of word.latencies) this.#latencies.add(ms);
    } else if (word.type === "measured") this.#survey.receive(word);
    this.watch.receive(word, now);
  }

  /** Handles the end of a host that was not asked to end. */
  #lost(agentId: string): void {
    if (this.#isStopping || !this.watch.agents.has(agentId)) return;
    if (this.#seats.get(agentId)?.startedAt === undefined) this.#failure ??= `${agentId} ended during its start`;
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

  #taskOf(index: number, atMs: number): AgentTask {
    const plan = this.#plan;
    const { bus, namespace, providerUrl } = this.#ground;
    const agentId = `agent-${index + 1}`;
    const part = plan.pacing === "split" ? plan.margin / plan.agents : plan.margin;
    return {
      agentId,
      pacing: plan.pacing,
      bus,
      namespace: plan.isSharing ? namespace : `${namespace}-${agentId}`,
      providerUrl,
      rpm: plan.rpm * part,
      tpm: plan.tpm * part,
      windowMs: plan.windowMs,
      recoveryIntervalMs: plan.recoveryIntervalMs,
      speed: plan.speed,
      epochMs: this.#ground.epochMs,
      medianTokens: plan.medianTokens,
      meanTokens: plan.meanTokens,
      mostTokens: plan.mostTokens,
      seed: plan.seed + 15_485_863 * (index + 1),
      callsPerSecond: callsPerSecond(plan, index, atMs),
      isCutOff: this.#isCutOff,
      isMeasured: this.#ground.isMeasured ?? false,
    };
  }
}
