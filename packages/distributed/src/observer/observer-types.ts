import type { BusState, MessageBus } from "@hivepace/bus";
import type { AvailabilityEvent, AvailabilityState, CapacityUpdate, Clock } from "@hivepace/core";
import type { HiveDimension } from "../hive/hive-types.ts";
import type { LevelCause, PeerStatus } from "../limiter/distributed-limiter.ts";

/** Options of `observeSwarm`. */
export interface ObserverOptions {
  /**
   * The bus of the observed agents. The observer closes a bus that it receives as a promise; a bus passed directly
   * stays open.
   */
  bus: MessageBus | PromiseLike<MessageBus>;
  /**
   * Namespace of the agents; "" for subjects without a prefix.
   *
   * @defaultValue the result of `resolveNamespace()` of `@hivepace/namespace`
   */
  namespace?: string | undefined;
  /**
   * Secret of the agents, if they sign. Messages that are unsigned or signed with another secret are ignored.
   *
   * @defaultValue none: signatures are not checked
   */
  secret?: string | readonly [current: string, previous: string] | undefined;
  /** The agents' own, if they have one. */
  swarmId?: string | undefined;
  clock?: Clock | undefined;
}

/** Receives all messages between agents and publishes nothing: for dashboards, alarms and people. */
export interface SwarmObserver extends AsyncDisposable {
  /** Namespace of the observed swarm; "" for subjects without a prefix. */
  readonly namespace: string;
  /** Returns the present state of the swarm, as far as messages have shown it. */
  snapshot(): SwarmSnapshot;
  /** Registers a listener for all further events of the swarm. Returns a function that removes the listener. */
  onEvent(listener: (event: SwarmEvent) => void): () => void;
  /** Closes the observer. May be called more than once. */
  close(): Promise<void>;
}

/** The state of a swarm as an observer sees it. */
export interface SwarmSnapshot {
  /** State of the bus. */
  readonly bus: BusState;
  /** Duration of the observation. Earlier events are known only as far as agents still report them. */
  readonly observedMs: number;
  /**
   * Number of live agents: those whose messages arrived here, or a larger number that an agent reports. Thousands of
   * agents in store mode send little on the bus.
   */
  readonly members: number;
  /** Agents that are live or have reported recently, by name. */
  readonly agents: readonly ObservedAgent[];
  /** Observed resources, by name. */
  readonly resources: readonly ObservedResource[];
  /** Tenant keys with limits that are in use; `resource` is the key. */
  readonly keys: readonly ObservedResource[];
  /** Endpoints and models that are overloaded, broken or parked, by name. */
  readonly availability: readonly ObservedAvailability[];
  /** Number of valid messages received. */
  readonly received: number;
  /** Number of ignored messages, by reason. */
  readonly ignored: Readonly<Record<string, number>>;
}

/** An unavailable endpoint or model. */
export interface ObservedAvailability {
  /** The endpoint's id. */
  readonly resource: string;
  /** The model; undefined for the endpoint as a whole. */
  readonly model: string | undefined;
  readonly state: AvailabilityState;
  /** The agent that detected the state, or the operator who decided it. */
  readonly agentId: string;
  readonly reason: string;
  /** Time since the endpoint became unavailable, in milliseconds. */
  readonly sinceMs: number;
  /** Time until the next call may be sent, in milliseconds; undefined when only unparking helps. */
  readonly retryAfterMs: number | undefined;
}

/** One agent of the swarm. */
export interface ObservedAgent extends PeerStatus {
  /** Age of the agent's incarnation in milliseconds. */
  readonly upMs: number;
  /** Relative weight of the agent under contention. */
  readonly weight: number;
  /** True when a store allocates the agent's share. */
  readonly isAllocated: boolean;
}

/** One limit of the swarm, with the agents that use it. */
export interface ObservedResource {
  /**
   * The endpoint's id, with models as `id/model`; with another window than the usual one as `id@windowMs`. The limit on
   * calls under way (`maxInFlight`) is a resource of its own, `id@in-flight`.
   */
  readonly resource: string;
  /** Window of the limits in milliseconds; 0 for calls under way, which have none. */
  readonly windowMs: number;
  /** The dimensions of the limit, in the order of the agents' amounts. */
  readonly limits: readonly ObservedLimit[];
  /**
   * Fraction of the limits that is left after cuts, 0 to 1; the cause of the latest cut; and the remaining pause of all
   * agents.
   */
  readonly level: number;
  readonly cause: LevelCause | undefined;
  readonly pausedForMs: number;
  /** Time until the level rises; undefined when it has fully recovered. */
  readonly risesInMs: number | undefined;
  /** The agents with usage or demand, by name. */
  readonly agents: readonly ObservedUse[];
}

/** A unit of limits; `"inFlight"` are calls under way. */
export type ObservedDimension = HiveDimension | "inFlight";

/** One dimension of a limit. */
export interface ObservedLimit {
  /** The unit of the limit; undefined where agents do not report it. */
  readonly dimension: ObservedDimension | undefined;
  /** The smallest limit that any live agent has configured; Infinity for no limit. */
  readonly limit: number;
  /**
   * Amount that all agents together may use in a window now: the limit × the level. For calls under way the present number
   * of slots.
   */
  readonly total: number;
  /** Usage of all agents in the last window; for slots the number of calls under way. */
  readonly used: number;
  /** Usage of all agents since the observation began. */
  readonly usedSince: number;
  /** Demand of the waiting requests of all agents. */
  readonly waiting: number;
}

/** One agent's usage of a resource; amounts are in the order of its `limits`. */
export interface ObservedUse {
  readonly agentId: string;
  /** Usage of the agent in its last window. */
  readonly used: readonly number[];
  /** The agent's fair share of the totals; 0 for a departed agent. */
  readonly share: readonly number[];
  /** Demand of the waiting requests of the agent. */
  readonly waiting: readonly number[];
  /** Time for which the agent's first request has been waiting; 0 when none waits. */
  readonly waitedMs: number;
  /** Time for which the agent's oldest call has held a slot; 0 without slots and when none is held. */
  readonly heldMs: number;
}

/** An event of a swarm, in the order of arrival. */
export type SwarmEvent =
  | { readonly type: "joined" | "silent" | "back" | "left"; readonly agentId: string }
  /** The named agent cut the level. */
  | {
      readonly type: "cut";
      readonly resource: string;
      readonly agentId: string;
      readonly reason: string;
      readonly level: number;
      /** Capacity of all agents per window now, in the first dimension with a limit. */
      readonly newCapacity: number;
    }
  /** The named agent paused all agents for this time. */
  | {
      readonly type: "paused";
      readonly resource: string;
      readonly agentId: string;
      readonly reason: string;
      readonly pausedForMs: number;
    }
  /** One step of the recovery. A level of 1 is the last step. */
  | { readonly type: "raised"; readonly resource: string; readonly level: number; readonly newCapacity: number }
  /** An endpoint, or a model of it, became available or unavailable, or a probe failed. */
  | {
      readonly type: "availability";
      readonly resource: string;
      readonly model: string | undefined;
      readonly state: AvailabilityState;
      readonly cause: AvailabilityEvent["cause"];
      readonly agentId: string;
      readonly reason: string;
      readonly retryAfterMs: number | undefined;
    }
  /** An agent that supports only the five common fields has announced a capacity. */
  | { readonly type: "announced"; readonly update: CapacityUpdate }
  | { readonly type: "bus"; readonly state: BusState };
