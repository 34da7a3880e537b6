import { isHivepaceError } from "@hivepace/core";
import { seededRandom } from "@hivepace/core/testing";
import { createHive } from "../hive/create-hive.ts";
import type { Hive } from "../hive/hive-types.ts";
import { AgentClock } from "./agent-clock.ts";
import { type BusMessage, BusPort } from "./bus-port.ts";
import { localTimes } from "./local-time.ts";
import { Network } from "./network.ts";
import { type NetworkOptions, networkDefaults, type StoreOptions } from "./options.ts";
import { SimulatedStore } from "./simulated-store.ts";
import { SlotRecorder, type SlotReport } from "./slot-recorder.ts";
import { storePort } from "./store-port.ts";
import { storeSettings } from "./store-settings.ts";
import { Timeline } from "./timeline.ts";

export type { SlotReport } from "./slot-recorder.ts";

/** A simulated swarm of real hives that share slots. By default every agent always has waiting calls. */
export interface SlotSwarmOptions {
  readonly seed: number;
  readonly agents: number;
  /** Maximum number of calls in flight over all agents. With `adapts`, the upper bound of the adaptive limit. */
  readonly slots: number;
  /**
   * Makes the limit adapt to a provider with this capacity of concurrent calls, as a function of the time in milliseconds.
   * Calls above the capacity take longer, and are refused as overload from `refusesFrom` capacities on: a third above the
   * capacity by default. A part of all calls, `failing`, is refused for other reasons than their number.
   */
  readonly adapts?:
    | {
        readonly min: number;
        readonly capacity: (timeMs: number) => number;
        readonly refusesFrom?: number | undefined;
        readonly failing?: number | undefined;
      }
    | undefined;
  readonly durationMs: number;
  /** Minimum and maximum duration of a call, in milliseconds. */
  readonly callMs: readonly [number, number];
  /** Callers of each agent, each with one call at a time. @defaultValue the number of slots */
  readonly callers?: number | undefined;
  /** Longest rest of a caller between two calls, in milliseconds. @defaultValue 0 */
  readonly restMs?: number | undefined;
  readonly leaseMs?: number | undefined;
  /** Requests per minute. @defaultValue unlimited */
  readonly requests?: number | undefined;
  readonly network?: Partial<NetworkOptions> | undefined;
  /** A store that grants the slots. @defaultValue none */
  readonly store?: StoreOptions | undefined;
  readonly faults?: readonly SlotFault[] | undefined;
  /** Time from which figures count, in milliseconds. @defaultValue a tenth of the duration */
  readonly measureFrom?: number | undefined;
}

/** A fault at a given time. Agents are numbered from 0. */
export type SlotFault = { readonly at: number } & (
  | { readonly type: "crash" | "leave" | "join"; readonly agents: readonly number[] }
  | { readonly type: "freeze" | "cut"; readonly agents: readonly number[]; readonly forMs: number }
  | { readonly type: "bus-down"; readonly forMs: number }
  /** Callers start no new calls; calls in flight continue. */
  | { readonly type: "rest" }
);

/** Multiple of its capacity at which the provider refuses calls, and the time that a refusal takes. */
const OVERLOADED = 4 / 3;
const REFUSED_MS = 50;

/** Runs a swarm in virtual time. Runs with equal options are identical. */
export async function simulateSlots(options: SlotSwarmOptions): Promise<SlotReport> {
  return new SlotSwarm(options).run();
}

/** One process: its hive, and the parts needed to stop it. */
interface Process {
  readonly clock: AgentClock;
  readonly port: BusPort;
  hive: Hive | undefined;
  isUp: boolean;
  /** Events that arrived while the process was frozen; undefined while it runs. */
  held: (() => void)[] | undefined;
}

class SlotSwarm {
  readonly #options: SlotSwarmOptions;
  readonly #timeline = new Timeline();
  readonly #network: Network;
  readonly #store: SimulatedStore | undefined;
  readonly #random: () => number;
  readonly #recorder: SlotRecorder;
  readonly #processes: (Process | undefined)[];
  readonly #lives: number[];
  #isResting = false;
  #failure: unknown;

  constructor(options: SlotSwarmOptions) {
    const { agents, seed, slots, durationMs, measureFrom = durationMs / 10, network } = options;
    this.#options = options;
    this.#random = seededRandom(seed);
    this.#recorder = new SlotRecorder(this.#timeline, slots, agents, measureFrom);
    this.#processes = new Array<undefined>(agents).fill(undefined);
    this.#lives = new Array<number>(agents).fill(0);
    this.#store = options.store && new SimulatedStore(options.store, this.#timeline, this.#random, 0);
    const delays = { ...networkDefaults, ...network };
    this.#network = new Network(agents, delays, this.#timeline, this.#random, (to, message) =>
      this.#deliver(to, message),
    );
  }

  async run(): Promise<SlotReport> {
    const { agents, durationMs, faults = [], seed } = this.#options;
    const times = localTimes(agents, 0.0001, seed + 1);
    for (const fault of faults) this.#timeline.at(fault.at, () => this.#happen(fault, times));
    const late = new Set(faults.flatMap((fault) => (fault.type === "join" ? fault.agents : [])));
    const early = new Set(
      faults.flatMap((fault) => (fault.type === "crash" || fault.type === "leave" ? fault.agents : [])),
    );
    for (let i = 0; i < agents; i++)
      if (!late.has(i) || early.has(i)) this.#timeline.at(0, () => this.#start(i, times));
    await this.#timeline.settleUntil(durationMs);
    if (this.#failure) throw this.#failure;
    const report = this.#recorder.report(this.#network.published, this.#statuses());
    this.#isResting = true;
    for (const process of this.#processes) void process?.hive?.close();
    await this.#timeline.settleUntil(durationMs + 5_000);
    return report;
  }

  #statuses(): readonly number[] {
    return this.#processes.flatMap((process) => process?.hive?.explain("api").slots?.used ?? []);
  }

  #start(index: number, times: ReturnType<typeof localTimes>): void {
    const life = (this.#lives[index] as number) + 1;
    this.#lives[index] = life;
    const epochOffsetMs = life + (index + 0.5) / (this.#options.agents + 1);
    const clock = new AgentClock(this.#timeline, times[index] as (typeof times)[number], { epochOffsetMs });
    const process: Process = {
      clock,
      port: new BusPort(this.#network, index, clock),
      hive: undefined,
      isUp: true,
      held: undefined,
    };
    this.#processes[index] = process;
    this.#open(process, index).catch((error: unknown) => {
      this.#failure ??= error;
    });
  }

  async #open(process: Process, index: number): Promise<void> {
    const { slots, agents, leaseMs, requests, store, adapts, callers = slots } = this.#options;
    const { clock, port } = process;
    process.hive = await createHive({
      agentId: `agent-${index}`,
      namespace: "slots",
      clock,
      bus: port.bus,
      endpoints: [
        { id: "api", maxInFlight: adapts ? { adaptive: { min: adapts.min, max: slots } } : slots, rpmLimit: requests },
      ],
      expectedAgents: agents,
      leaseMs,
      ...storeSettings(store, this.#store && storePort(this.#store, index, (run) => this.#inProcess(process, run))),
    });
    for (let i = 0; i < callers; i++) void this.#call(process, index);
  }

  /** Runs one caller: one call after the other, until its process ends. */
  async #call(process: Process, index: number): Promise<void> {
    const { callMs, restMs = 0 } = this.#options;
    while (process.isUp && process.hive && !this.#isResting) {
      try {
        const lease = await process.hive.acquire({ endpoint: "api" });
        if (this.#isResting) {
          lease.cancel();
          return;
        }
        const drawn = callMs[0] + (callMs[1] - callMs[0]) * this.#random();
        const { adapts } = this.#options;
        const capacity = adapts?.capacity(this.#timeline.now) ?? Infinity;
        const isFailing = adapts?.failing !== undefined && this.#random() < adapts.failing;
        const ms = drawn * Math.max(1, (this.#recorder.inFlight + 1) / capacity);
        if (isFailing || this.#recorder.inFlight >= capacity * (adapts?.refusesFrom ?? OVERLOADED)) {
          await new Promise<void>((resolve) => {
            this.#timeline.after(REFUSED_MS, () => this.#inProcess(process, resolve));
          });
          this.#recorder.refused();
          lease.refused({ reason: "529", kind: "overload" });
          continue;
        }
        await new Promise<void>((resolve) => {
          this.#recorder.begin(index);
          this.#timeline.after(ms, () => {
            this.#recorder.end(index);
            this.#inProcess(process, () => {
              lease.done();
              resolve();
            });
          });
        });
        if (restMs > 0)
          await new Promise<void>((resolve) => {
            this.#timeline.after(restMs * this.#random(), () => this.#inProcess(process, resolve));
          });
      } catch (error) {
        // Waiters of a hive that closes are rejected.
        if (!isHivepaceError(error, "LIMITER_CLOSED")) this.#failure ??= error;
        return;
      }
    }
  }

  /** Runs now, or after a freeze, or never when the process is gone. */
  #inProcess(process: Process, run: () => void): void {
    if (process.held) process.held.push(run);
    else if (process.isUp) run();
  }

  #deliver(to: number, message: unknown): void {
    const process = this.#processes[to];
    if (process) this.#inProcess(process, () => process.port.receive(message as BusMessage));
  }

  #happen(fault: SlotFault, times: ReturnType<typeof localTimes>): void {
    switch (fault.type) {
      case "join":
        for (const index of fault.agents) if (!this.#processes[index]) this.#start(index, times);
        break;
      case "crash":
      case "leave":
        for (const index of fault.agents) this.#stop(index, fault.type === "leave");
        break;
      case "freeze":
        for (const index of fault.agents) this.#freeze(index, fault.forMs);
        break;
      case "cut": {
        const cut = new Set(fault.agents);
        this.#network.trouble(
          fault.forMs,
          (from, to) => cut.has(from) === cut.has(to) && (!cut.has(from) || from === to),
        );
        break;
      }
      case "bus-down":
        this.#timeline.after(fault.forMs, this.#network.outage());
        break;
      case "rest":
        this.#isResting = true;
    }
  }

  #stop(index: number, isGraceful: boolean): void {
    const process = this.#processes[index];
    if (!process) return;
    this.#processes[index] = undefined;
    if (isGraceful) {
      void process.hive?.close({ drainMs: 60_000 });
      return;
    }
    process.isUp = false;
    process.clock.stop();
    process.port.cut();
  }

  #freeze(index: number, forMs: number): void {
    const process = this.#processes[index];
    if (!process || process.held) return;
    process.held = [];
    process.clock.pause();
    this.#timeline.after(forMs, () => {
      const held = process.held ?? [];
      process.held = undefined;
      if (!process.isUp) return;
      process.clock.resume();
      for (const run of held) run();
    });
  }
}
