import { seededRandom } from "@hivepace/core/testing";
import { Demand } from "./demand.ts";
import { happen, type Stage } from "./happen.ts";
import { type LocalTime, localTimes } from "./local-time.ts";
import { Network } from "./network.ts";
import { type Drive, type Fault, type NetworkOptions, networkDefaults, type SimulationOptions } from "./options.ts";
import type { SwarmReport } from "./recorder.ts";
import { Service } from "./service.ts";
import { SimulatedStore } from "./simulated-store.ts";
import { Timeline } from "./timeline.ts";
import type { Trace } from "./trace.ts";
import type { Answer, Call, Participant, World } from "./world.ts";

const WINDOW_MS = 60_000;

/** The environment in which agents of any kind are created. */
export interface Setting {
  readonly options: SimulationOptions;
  readonly world: World;
  readonly timeline: Timeline;
  readonly network: Network;
  readonly store: SimulatedStore | undefined;
  /** The clock of each agent. */
  readonly times: readonly LocalTime[];
  /** Returns the number of agents that run now. */
  readonly live: () => number;
  /** Longest transit time of a message, including a suspension of its reader. */
  readonly transitMs: number;
  /** Hashes everything that must be the same when a run is repeated. */
  readonly trace: Trace;
}

/** The start of one incarnation of an agent. */
export interface Start {
  readonly index: number;
  /** Counts the agent's incarnations from 1. */
  readonly life: number;
  readonly id: string;
  /** Whether the wall clock went back since the previous incarnation. */
  readonly isEarlier: boolean;
}

/** The agents of a simulation: engines, limiters, hives or baselines. */
export interface Agents {
  readonly drive: Drive;
  newAgent(start: Start): Participant;
  readonly cuts: { readonly count: number; readonly spreadMs: number };
  /** Called before each fault. */
  disturbed?(fault: Fault): void;
}

/** The simulated world: network, store, providers, demand and faults around agents of any kind. */
export class Simulation {
  readonly #options: SimulationOptions;
  readonly #timeline = new Timeline();
  readonly #network: Network;
  readonly #store: SimulatedStore | undefined;
  readonly #service: Service;
  readonly #random: () => number;
  readonly #agents: Agents;
  readonly #stage: Stage;
  readonly #participants: (Participant | undefined)[];
  readonly #lives: number[];
  readonly #renames: number[];
  readonly #frozen: (unknown[] | undefined)[];
  readonly #spurious = new Map<number, number | undefined>();
  readonly #levelSeconds: number[] = [];

  constructor(options: SimulationOptions, newAgents: (setting: Setting) => Agents) {
    const { agents, seed, limits, drift = 0.0001, faults = [] } = options;
    this.#options = options;
    this.#random = seededRandom(seed);
    const windowMs = limits.windowMs ?? WINDOW_MS;
    this.#participants = new Array<undefined>(agents).fill(undefined);
    this.#lives = new Array<number>(agents).fill(0);
    this.#renames = new Array<number>(agents).fill(0);
    this.#frozen = new Array<undefined>(agents).fill(undefined);
    const timeline = this.#timeline;
    const network = { ...networkDefaults, ...options.network };
    this.#network = new Network(agents, network, timeline, this.#random, (to, message) => this.#deliver(to, message));
    const staleMs = Math.max(0, ...faults.map((one) => ("staleMs" in one ? one.staleMs : 0)));
    this.#store = options.store && new SimulatedStore(options.store, timeline, this.#random, staleMs);
    const isLong = options.duration >= 4 * windowMs;
    const from = options.measureFrom ?? (isLong ? 2 * windowMs : options.duration / 3);
    const weights = this.#lives.map((_, i) => options.weights?.[i] ?? 1);
    this.#service = new Service({ options, windowMs, weights, from });
    this.#agents = newAgents({
      options,
      world: this.#world(windowMs),
      timeline,
      network: this.#network,
      store: this.#store,
      times: localTimes(agents, drift, seed + 1),
      live: () => this.#participants.filter((participant) => participant !== undefined).length,
      transitMs: longestTransit(network, faults),
      trace: this.#service.recorder.trace,
    });
    this.#stage = this.#newStage();
    const { endpoints, limits: allLimits } = this.#service;
    new Demand(options, endpoints, allLimits, windowMs, timeline, (call) => this.#arrive(call)).start();
    for (const fault of faults) if (fault.at > 0) timeline.at(fault.at, () => this.#happen(fault));
  }

  /** Runs the simulation for agents that use no promises. */
  run(): SwarmReport {
    this.#begin();
    while (this.#timeline.now < this.#options.duration) {
      this.#timeline.runUntil(this.#nextSecond());
      this.#endSecond();
    }
    return this.#report();
  }

  /** Runs the simulation for agents that use promises. The agents stay open at the end. */
  async runSettling(): Promise<SwarmReport> {
    this.#begin();
    while (this.#timeline.now < this.#options.duration) {
      await this.#timeline.settleUntil(this.#nextSecond());
      this.#endSecond();
    }
    return this.#report();
  }

  /** Stops all agents with a goodbye, and lets `graceMs` pass without further demand. */
  async close(graceMs: number): Promise<void> {
    for (const participant of this.#participants) participant?.stop(true);
    this.#participants.fill(undefined);
    await this.#timeline.settleUntil(this.#timeline.now + graceMs);
  }

  #begin(): void {
    const { agents, absent = [], faults = [] } = this.#options;
    for (const fault of faults) if (fault.at <= 0) this.#happen(fault);
    for (let i = 0; i < agents; i++) if (!absent.includes(i)) this.#start(i);
  }

  #nextSecond(): number {
    return Math.min(this.#options.duration, this.#timeline.now + 1_000);
  }

  #endSecond(): void {
    this.#levelSeconds.push(Math.min(1, ...this.#participants.map((participant) => participant?.level?.() ?? 1)));
    this.#options.onProgress?.(this.#timeline.now);
  }

  #report(): SwarmReport {
    const { agents, duration, seed, scheme = "hive" } = this.#options;
    const { cuts, drive } = this.#agents;
    return this.#service.recorder.report({
      scheme,
      drive,
      seed,
      agents,
      durationMs: duration,
      messagesPerAgentSecond: this.#network.published / agents / (duration / 1000),
      cuts: cuts.count,
      cutSpreadMs: cuts.spreadMs,
      levels: this.#different((participant) => participant.levelText?.()),
      levelSeconds: this.#levelSeconds,
      limits: this.#different((participant) => participant.limitsText?.()),
      storeCallsPerAgentSecond: (this.#store?.calls ?? 0) / agents / (duration / 1000),
      learnings: this.#store?.learnings ?? 0,
      endpoints: this.#service.endpointFigures(duration),
      keys: this.#service.keyFigures(duration),
    });
  }

  /** Number of different texts among the agents that have one. */
  #different(textOf: (participant: Participant) => string | undefined): number {
    const texts = new Set(this.#participants.map((participant) => participant && textOf(participant)));
    texts.delete(undefined);
    return texts.size;
  }

  #world(windowMs: number): World {
    const timeline = this.#timeline;
    const { endpoints } = this.#service;
    return {
      get now() {
        return timeline.now;
      },
      limits: endpoints[0]?.amounts ?? [],
      windowMs,
      agents: this.#options.agents,
      endpoints,
      send: (call) => this.#send(call),
      broadcast: (from, message) => this.#network.broadcast(from, message),
      allocate: (from, ask, answered) => this.#store?.allocate(from, ask, answered),
      after: (ms, run) => timeline.after(ms, run),
      random: this.#random,
    };
  }

  #newStage(): Stage {
    return {
      timeline: this.#timeline,
      network: this.#network,
      service: this.#service,
      store: this.#store,
      start: (index, how) => {
        if (!this.#participants[index]) this.#start(index, how);
      },
      stop: (index, graceful) => this.#stop(index, graceful),
      freeze: (index, forMs) => this.#freeze(index, forMs),
      refuseNext: (index, retryAfterMs) => this.#spurious.set(index, retryAfterMs),
      setLimits: (limits, some) => {
        for (const index of some ?? this.#participants.keys()) this.#participants[index]?.setLimits(limits);
      },
      inject: (message) => {
        for (let to = 0; to < this.#options.agents; to++) this.#deliver(to, message);
      },
    };
  }

  #happen(fault: Fault): void {
    this.#agents.disturbed?.(fault);
    happen(this.#stage, fault);
  }

  #start(index: number, how: { readonly isEarlier?: boolean; readonly isRenamed?: boolean } = {}): void {
    const life = (this.#lives[index] as number) + 1;
    this.#lives[index] = life;
    if (how.isRenamed) this.#renames[index] = (this.#renames[index] as number) + 1;
    const name = this.#options.names?.[index] ?? `agent-${index}`;
    const id = this.#renames[index] ? `${name}-${this.#renames[index]}` : name;
    const participant = this.#agents.newAgent({ index, life, id, isEarlier: how.isEarlier ?? false });
    this.#participants[index] = participant;
    this.#service.recorder.joined(index, this.#timeline.now);
    participant.start();
  }

  #stop(index: number, graceful: boolean): void {
    this.#participants[index]?.stop(graceful);
    this.#participants[index] = undefined;
    this.#service.recorder.gone(index);
  }

  #deliver(to: number, message: unknown): void {
    const frozen = this.#frozen[to];
    if (frozen) frozen.push(message);
    else this.#participants[to]?.receive(message);
  }

  #arrive(call: Call): void {
    const { demand, duration } = this.#options;
    const { maxQueue = Math.min(60, Math.max(5, ...this.#service.limits)) } = demand;
    const participant = this.#participants[call.agent];
    if (!participant || this.#frozen[call.agent] || this.#timeline.now >= duration) return;
    this.#service.recorder.offered(call);
    if (participant.waiting < maxQueue) participant.arrive(call);
  }

  #send(call: Call): void {
    const { now } = this.#timeline;
    const provider = this.#service.provider(call.sentTo);
    call.sentAt = now;
    const isSpurious = this.#spurious.has(call.agent);
    const spuriousRetryMs = this.#spurious.get(call.agent);
    if (isSpurious) this.#spurious.delete(call.agent);
    const answer: Answer = isSpurious
      ? { outcome: "refused", retryAfterMs: spuriousRetryMs }
      : provider.begin(call, now);
    const participant = this.#participants[call.agent];
    this.#service.sent(call, answer, (participant?.waiting ?? 0) > 0);
    this.#timeline.after(provider.answerMs(answer, this.#random), () => {
      if (answer.outcome === "accepted") provider.end(call, this.#timeline.now);
      if (this.#participants[call.agent] === participant)
        participant?.answered(call, { ...answer, limits: provider.headers(this.#timeline.now) });
    });
  }

  /** Freezes an agent, which receives all messages of that time at once afterwards, as from a socket's buffer. */
  #freeze(index: number, forMs: number): void {
    const participant = this.#participants[index];
    if (!participant || this.#frozen[index]) return;
    const missed: unknown[] = [];
    this.#frozen[index] = missed;
    participant.pause?.();
    this.#timeline.after(forMs, () => {
      this.#frozen[index] = undefined;
      if (this.#participants[index] !== participant) return;
      participant.resume?.();
      for (const message of missed) participant.receive(message);
    });
  }
}

/** The longest network delay plus the longest suspension of a reader. */
function longestTransit(network: NetworkOptions, faults: readonly Fault[]): number {
  let transitMs = Math.max(network.delayMs[1], network.slowMs[1]);
  let stillMs = 0;
  for (const fault of faults) {
    if (fault.type === "freeze") stillMs = Math.max(stillMs, fault.forMs);
    if (fault.type !== "network") continue;
    transitMs = Math.max(transitMs, fault.network.delayMs?.[1] ?? 0, fault.network.slowMs?.[1] ?? 0);
  }
  return transitMs + stillMs;
}
