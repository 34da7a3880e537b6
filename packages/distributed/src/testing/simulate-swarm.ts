import { seededRandom } from "@hivepace/core/testing";
import type { Amounts } from "../engine/amounts.ts";
import { levelAt } from "../engine/level.ts";
import type { Pool } from "../engine/pool.ts";
import type { StoreConfig } from "../engine/store-side.ts";
import { newBaseline } from "./baselines.ts";
import { checkOptions } from "./check-options.ts";
import { Cuts } from "./cuts.ts";
import { Demand } from "./demand.ts";
import { happen, type Stage } from "./happen.ts";
import { HiveAgent } from "./hive-agent.ts";
import { Laws } from "./laws.ts";
import { Network } from "./network.ts";
import {
  amountsOf,
  type Fault,
  type NetworkOptions,
  networkDefaults,
  providerDefaults,
  type SimulationOptions,
} from "./options.ts";
import { newProvider, type Provider } from "./provider.ts";
import { Recorder, type SwarmReport } from "./recorder.ts";
import { SimulatedStore } from "./simulated-store.ts";
import { Timeline } from "./timeline.ts";
import type { Call, Participant, World } from "./world.ts";

/**
 * Runs a swarm in virtual time, on the engine that ships, against a provider that enforces its limits, and reports what
 * came of it. Throws when a law of the engine is broken; `checkSwarm` says by which events.
 */
export function simulateSwarm(options: SimulationOptions): SwarmReport {
  checkOptions(options);
  return new Simulation(options).run();
}

const WINDOW_MS = 60_000;
/** Lives are numbered from here on, so that there is room before them. */
const LATER = 1_000;

class Simulation {
  readonly #options: SimulationOptions;
  readonly #timeline = new Timeline();
  readonly #network: Network;
  readonly #store: SimulatedStore | undefined;
  readonly #provider: Provider;
  readonly #recorder: Recorder;
  readonly #laws: Laws;
  readonly #random: () => number;
  readonly #world: World;
  readonly #stage: Stage;
  readonly #windowMs: number;
  readonly #limits: Amounts;
  readonly #participants: (Participant | undefined)[];
  readonly #lives: number[];
  readonly #frozen: (unknown[] | undefined)[];
  readonly #spurious = new Map<number, number | undefined>();
  readonly #clocks: ((worldMs: number) => number)[];
  readonly #cuts = new Cuts();

  constructor(options: SimulationOptions) {
    const { agents, seed, limits, drift = 0.0001 } = options;
    this.#options = options;
    this.#random = seededRandom(seed);
    this.#windowMs = limits.windowMs ?? WINDOW_MS;
    this.#limits = amountsOf(limits);
    this.#participants = new Array<undefined>(agents).fill(undefined);
    this.#lives = new Array<number>(agents).fill(0);
    this.#frozen = new Array<undefined>(agents).fill(undefined);
    // Every clock has a zero and a speed of its own.
    const clockRandom = seededRandom(seed + 1);
    this.#clocks = this.#lives.map(() => {
      const offset = Math.floor(clockRandom() * 1e9);
      const speed = 1 + drift * (2 * clockRandom() - 1);
      return (worldMs) => worldMs * speed + offset;
    });
    const network = { ...networkDefaults, ...options.network };
    this.#network = new Network(agents, network, this.#timeline, this.#random, (to, message) =>
      this.#deliver(to, message),
    );
    const staleMs = Math.max(0, ...(options.faults ?? []).map((one) => ("staleMs" in one ? one.staleMs : 0)));
    this.#store = options.store && new SimulatedStore(options.store, this.#timeline, this.#random, staleMs);
    this.#provider = newProvider({ ...providerDefaults, ...options.provider }, this.#limits, this.#windowMs);
    const isLong = options.duration >= 4 * this.#windowMs;
    const from = options.measureFrom ?? (isLong ? 2 * this.#windowMs : options.duration / 3);
    const weights = this.#lives.map((_, i) => options.weights?.[i] ?? 1);
    this.#recorder = new Recorder(this.#limits, this.#windowMs, weights, from);
    this.#laws = new Laws({ agents, drift, transitMs: longestTransit(network, options.faults ?? []) });
    const timeline = this.#timeline;
    this.#world = {
      get now() {
        return timeline.now;
      },
      limits: this.#limits,
      windowMs: this.#windowMs,
      agents,
      send: (call) => this.#send(call),
      broadcast: (from, message) => {
        this.#recorder.mark(timeline.now, -1 - from);
        this.#network.broadcast(from, message);
      },
      share: (from, ask, answered) => this.#store?.share(from, ask, answered),
      after: (ms, run) => timeline.after(ms, run),
      random: this.#random,
    };
    this.#stage = {
      timeline,
      network: this.#network,
      provider: this.#provider,
      store: this.#store,
      start: (index, isEarlier) => {
        if (!this.#participants[index]) this.#start(index, isEarlier);
      },
      stop: (index, graceful) => this.#stop(index, graceful),
      freeze: (index, forMs) => this.#freeze(index, forMs),
      refuseNext: (index, retryAfterMs) => this.#spurious.set(index, retryAfterMs),
      setLimits: (limits, some) => {
        for (const index of some ?? this.#participants.keys()) this.#participants[index]?.setLimits(limits);
      },
      inject: (message) => {
        for (let to = 0; to < agents; to++) this.#deliver(to, message);
      },
    };
    new Demand(options, this.#limits, this.#windowMs, timeline, (call) => this.#arrive(call)).start();
    for (const fault of options.faults ?? []) if (fault.at > 0) timeline.at(fault.at, () => happen(this.#stage, fault));
  }

  run(): SwarmReport {
    const { agents, absent = [], duration, seed, scheme = "hive", faults = [] } = this.#options;
    for (const fault of faults) if (fault.at <= 0) happen(this.#stage, fault);
    for (let i = 0; i < agents; i++) if (!absent.includes(i)) this.#start(i);
    const levelSeconds: number[] = [];
    while (this.#timeline.now < duration) {
      this.#timeline.runUntil(Math.min(duration, this.#timeline.now + 1_000));
      levelSeconds.push(this.#lowestLevel());
      this.#options.onProgress?.(this.#timeline.now);
    }
    return this.#recorder.report({
      scheme,
      seed,
      agents,
      durationMs: duration,
      messagesPerAgentSecond: this.#network.published / agents / (duration / 1000),
      cuts: this.#cuts.count,
      cutSpreadMs: this.#cuts.spreadMs,
      levels: this.#different((pool) => `${pool.level.epoch} ${pool.level.round} ${pool.level.base}`),
      levelSeconds,
      limits: this.#different((pool) => pool.limits.join(" ")),
      storeCallsPerAgentSecond: (this.#store?.calls ?? 0) / agents / (duration / 1000),
      learnings: this.#store?.learnings ?? 0,
    });
  }

  #live(): number {
    return this.#participants.filter((participant) => participant !== undefined).length;
  }

  #lowestLevel(): number {
    let lowest = 1;
    for (const [i, participant] of this.#participants.entries()) {
      if (!(participant instanceof HiveAgent)) continue;
      const clock = this.#clocks[i] as (worldMs: number) => number;
      lowest = Math.min(lowest, levelAt(participant.pool.level, clock(this.#timeline.now)));
    }
    return lowest;
  }

  /** How many different ones there are among all agents. */
  #different(textOf: (pool: Pool) => string): number {
    const texts = new Set<string>();
    for (const participant of this.#participants)
      if (participant instanceof HiveAgent) texts.add(textOf(participant.pool));
    return texts.size;
  }

  #start(index: number, isEarlier = false): void {
    const { scheme = "hive", isolation = "balanced", expectedAgents, weights, tuning, demand } = this.#options;
    const life = (this.#lives[index] as number) + 1;
    this.#lives[index] = life;
    const clock = this.#clocks[index] as (worldMs: number) => number;
    const participant =
      scheme === "hive"
        ? new HiveAgent(this.#world, {
            index,
            id: this.#options.names?.[index] ?? `agent-${index}`,
            life: (isEarlier ? 1 : LATER + life) * 1_000 + index,
            weight: weights?.[index] ?? 1,
            isolation,
            expectedAgents,
            tryOnly: demand.tryOnly?.includes(index) ?? false,
            clock,
            tuning,
            store: storeConfig(this.#options.store),
            observe: (agent, event, effects) => {
              this.#laws.check(agent, event, effects, clock(this.#timeline.now), this.#timeline.now);
              this.#cuts.note(agent, this.#timeline.now, () => this.#live());
            },
          })
        : newBaseline(scheme, this.#world, index);
    this.#participants[index] = participant;
    this.#recorder.joined(index, this.#timeline.now);
    participant.start();
  }

  #stop(index: number, graceful: boolean): void {
    this.#participants[index]?.stop(graceful);
    this.#participants[index] = undefined;
    this.#recorder.gone(index);
  }

  #deliver(to: number, message: unknown): void {
    const frozen = this.#frozen[to];
    if (frozen) frozen.push(message);
    else this.#participants[to]?.hear(message);
  }

  #arrive(call: Call): void {
    const { maxQueue = Math.min(60, Math.max(5, ...this.#limits)) } = this.#options.demand;
    const participant = this.#participants[call.agent];
    if (!participant || this.#frozen[call.agent]) return;
    this.#recorder.offered(call);
    if (participant.waiting < maxQueue) participant.arrive(call);
  }

  #send(call: Call): void {
    const { now } = this.#timeline;
    const { latencyMs, retryAfterMs } = { ...providerDefaults, ...this.#options.provider };
    call.sentAt = now;
    const isSpurious = this.#spurious.has(call.agent);
    const spuriousRetryMs = this.#spurious.get(call.agent);
    if (isSpurious) this.#spurious.delete(call.agent);
    const accepted = !isSpurious && this.#provider.accepts(call.actual, now);
    const participant = this.#participants[call.agent];
    this.#recorder.sent(call, accepted, (participant?.waiting ?? 0) > 0);
    const [least, most] = latencyMs;
    this.#timeline.after(least + (most - least) * this.#random(), () => {
      if (this.#participants[call.agent] === participant)
        participant?.answered(call, { accepted, retryAfterMs: isSpurious ? spuriousRetryMs : retryAfterMs });
    });
  }

  /** It hears everything afterwards, all at once, as from a socket's buffer. */
  #freeze(index: number, forMs: number): void {
    const participant = this.#participants[index];
    if (!participant || this.#frozen[index]) return;
    const missed: unknown[] = [];
    this.#frozen[index] = missed;
    (participant as { pause?: () => void }).pause?.();
    this.#timeline.after(forMs, () => {
      this.#frozen[index] = undefined;
      if (this.#participants[index] !== participant) return;
      (participant as { resume?: () => void }).resume?.();
      for (const message of missed) participant.hear(message);
    });
  }
}

function storeConfig(store: SimulationOptions["store"]): StoreConfig | undefined {
  return store && { aggregation: store.aggregation, above: store.above ?? 300, below: store.below ?? 200 };
}

/** The longest that a message can be under way, and then wait in the buffer of a process that stands still. */
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
