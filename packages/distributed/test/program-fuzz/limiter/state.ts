import { type MemoryBroker, memoryBroker, memoryBus } from "@hivepace/bus";
import { type ChaosBus, chaosBus } from "@hivepace/bus/testing";
import { ManualClock, memorySyncStore, SyncMemory } from "@hivepace/core/testing";
import { createDistributedLimiter, type DistributedLimiter } from "../../../src/index.ts";
import { Signals } from "../core/counting-signal.ts";
import { Late } from "../core/promises.ts";
import { NAMESPACE } from "../core/spoken.ts";
import type { Limit, Patience, Setup } from "./program.ts";

const LOSSY = { drop: 0.1, duplicate: 0.05, delay: [1, 100] } as const;

/** A waiting call, as the model sees it. */
export interface Call {
  readonly agent: Agent;
  readonly resource: Resource;
  readonly options: Patience;
  readonly order: number;
}

/** One agent's resource, as the model sees it. */
export interface Resource {
  readonly name: string;
  limit: Limit;
  setAt: number;
  /** Time of the last change of its window; a limit below one call has a longer window. */
  windowSetAt: number;
  /** The number of grants before its limit was set. */
  grantsBefore: number;
  inFlight: number;
  readonly waiting: Set<Call>;
}

/** A limiter of the program, with the program's knowledge about it. */
export interface Agent {
  readonly index: number;
  limiter: DistributedLimiter;
  bus: ChaosBus;
  startedAt: number;
  readonly resources: Map<string, Resource>;
}

/** One grant; the model keeps all grants forever. */
export interface Grant {
  readonly at: number;
  readonly agent: number;
  readonly resource: string;
  readonly cost: number;
}

/** The window in which a limit is counted: at least the time of one call. */
export function spanMsOf({ capacity, windowMs }: Limit): number {
  return capacity < 1 ? windowMs / capacity : windowMs;
}

/** State that all parts of a limiter's world share. */
export class State {
  readonly setup: Setup;
  readonly clock = new ManualClock({ now: 5_000 });
  readonly broker: MemoryBroker = memoryBroker();
  readonly memory = new SyncMemory(this.clock);
  readonly agents: Agent[] = [];
  readonly grants: Grant[] = [];
  readonly signals = new Signals(3);
  readonly late = new Late();
  /** From now on agents may have incomplete knowledge. */
  isDisturbed: boolean;
  /** Resources whose limits have differed between agents. */
  readonly changed = new Set<string>();
  /** Whether tokens were given back. Unshared buckets accept them, up to their capacity. */
  isReleased = false;
  /** Time of the last partition, outage or freeze. */
  disturbedAt = -Infinity;
  /**
   * Resources whose limit was set again. A former limit of an agent that has removed the resource may still apply to
   * the others.
   */
  readonly setAgain = new Set<string>();
  /** Times at which agents removed resources that they have not set again, by agent and resource. */
  readonly removedAt = new Map<string, number>();
  unsettled = 0;
  starts = 0;
  order = 0;

  constructor(setup: Setup) {
    this.setup = setup;
    this.isDisturbed = setup.bus === "lossy";
  }

  get isAlone(): boolean {
    return this.agents.length === 1;
  }

  agent(index: number): Agent {
    return this.agents[index % this.agents.length] as Agent;
  }

  /** The given agent, or all of them. */
  those(index: number | undefined): readonly Agent[] {
    return index === undefined ? this.agents : [this.agent(index)];
  }

  async start(index: number): Promise<Agent> {
    const { clock, broker, memory, setup } = this;
    const { bus: kind, hasStore, sharing, options, agents } = setup;
    const chaos = { seed: index, clock, ...(kind === "lossy" ? LOSSY : {}) };
    const bus = chaosBus(await memoryBus(broker, { clock }), chaos);
    const limiter = await createDistributedLimiter({
      ...options,
      bus,
      agentId: `agent-${index}-${this.starts++}`,
      clock,
      sharing,
      ...(hasStore ? { sync: memorySyncStore({ memory }), aggregation: "store" } : {}),
      namespace: NAMESPACE,
      expectedAgents: agents,
    });
    return { index, limiter, bus, startedAt: clock.now(), resources: new Map() };
  }

  set(agent: Agent, limit: Limit): void {
    const { resource: name, capacity, windowMs } = limit;
    const known = agent.resources.get(name);
    this.removedAt.delete(`${agent.limiter.agentId} ${name}`);
    const setAt = this.clock.now();
    const grantsBefore = this.grants.length;
    if (known) {
      const windowSetAt = spanMsOf(known.limit) === spanMsOf(limit) ? known.windowSetAt : setAt;
      Object.assign(known, { limit, setAt, windowSetAt, grantsBefore });
    } else {
      const windowSetAt = -Infinity;
      agent.resources.set(name, { name, limit, setAt, windowSetAt, grantsBefore, inFlight: 0, waiting: new Set() });
    }
    agent.limiter.setCapacity(name, capacity, windowMs);
  }

  async pass(ms: number): Promise<void> {
    await this.clock.run(ms);
    this.late.throw();
  }
}
