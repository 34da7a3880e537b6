import type { BusState, MessageBus } from "@hivepace/bus";
import type { CapacityUpdate, Clock } from "@hivepace/core";
import type { HiveDimension } from "../hive/hive-types.ts";
import type { LevelCause, PeerStatus } from "../limiter/distributed-limiter.ts";

/** Options of `observeSwarm`. */
export interface ObserverOptions {
  /** Whose agents are watched. A promise of one is closed with the observer; one that is lent stays open. */
  bus: MessageBus | PromiseLike<MessageBus>;
  /** The agents' own. Default: what `resolveNamespace()` of `@hivepace/namespace` says. "": subjects have no prefix. */
  namespace?: string | undefined;
  /** The agents' own, if they sign: what is signed by another, or not at all, is ignored. */
  secret?: string | readonly [current: string, previous: string] | undefined;
  clock?: Clock | undefined;
}

/** Hears all that agents say to each other, and says nothing: for dashboards, alarms and people. */
export interface SwarmObserver extends AsyncDisposable {
  readonly namespace: string;
  /** The swarm as it is now, as far as was heard. */
  snapshot(): SwarmSnapshot;
  /** Hears of everything that happens to the swarm from now on. Returns its removal. */
  onEvent(listener: (event: SwarmEvent) => void): () => void;
  /** May be called twice. */
  close(): Promise<void>;
}

/** A swarm as an observer sees it. */
export interface SwarmSnapshot {
  readonly bus: BusState;
  /** For how long this has been observed: what happened before is known only as far as agents still speak of it. */
  readonly observedMs: number;
  /** Live agents: those heard here, or more when agents know of more. Thousands that a store serves say little on the bus. */
  readonly members: number;
  /** Those who were heard, also of late, by their names. */
  readonly agents: readonly ObservedAgent[];
  /** By their names. */
  readonly resources: readonly ObservedResource[];
  /** Tenant keys with limits that are in use; `resource` is the key. */
  readonly keys: readonly ObservedResource[];
  readonly heard: number;
  /** Messages that could not be understood, by reason. */
  readonly ignored: Readonly<Record<string, number>>;
}

/** One agent of the swarm. */
export interface ObservedAgent extends PeerStatus {
  readonly upMs: number;
  readonly weight: number;
  /** A store hands out its part. */
  readonly isServed: boolean;
}

/** One limit of the swarm, with all who use it. */
export interface ObservedResource {
  /** An endpoint's id, with models as `id/model`; what has another window than most as `id@windowMs`. */
  readonly resource: string;
  readonly windowMs: number;
  /** In the order in which agents give their amounts. */
  readonly limits: readonly ObservedLimit[];
  /** What is left of the limits, 0 to 1; who cut it, why and when; for how long all pause. */
  readonly level: number;
  readonly cause: LevelCause | undefined;
  readonly pausedForMs: number;
  /** How long until the level rises; undefined when it is whole. */
  readonly risesInMs: number | undefined;
  /** Those who use it or want it, by their names. */
  readonly agents: readonly ObservedUse[];
}

/** One dimension of a limit. */
export interface ObservedLimit {
  /** Undefined where agents do not say what they count. */
  readonly dimension: HiveDimension | undefined;
  /** The smallest that any live agent has configured; Infinity where there is none. */
  readonly limit: number;
  /** What all may use in a window now: the limit × the level. */
  readonly total: number;
  /** What all have used in the last window. */
  readonly used: number;
  /** What all have used since this is observed. */
  readonly usedSince: number;
  readonly waiting: number;
}

/** One agent's part of a resource; amounts in the order of its `limits`. */
export interface ObservedUse {
  readonly agentId: string;
  /** In its last window. */
  readonly used: readonly number[];
  /** Its fair part of the totals; 0 for those who are gone. */
  readonly share: readonly number[];
  readonly waiting: readonly number[];
  /** For how long something has been waiting there; 0 when nothing is. */
  readonly waitedMs: number;
}

/** What happens to a swarm, in the order in which it was heard. */
export type SwarmEvent =
  | { readonly type: "joined" | "silent" | "back" | "left"; readonly agentId: string }
  /** The level was cut, or cut again, by this agent. */
  | {
      readonly type: "cut";
      readonly resource: string;
      readonly agentId: string;
      readonly reason: string;
      readonly level: number;
      /** What all may use in a window now, of the first limit that there is. */
      readonly newCapacity: number;
    }
  /** All wait for so long. */
  | {
      readonly type: "paused";
      readonly resource: string;
      readonly agentId: string;
      readonly reason: string;
      readonly pausedForMs: number;
    }
  /** One step of the recovery; the last one, when the level is 1. */
  | { readonly type: "raised"; readonly resource: string; readonly level: number; readonly newCapacity: number }
  /** An agent that knows only the five fields has announced a capacity. */
  | { readonly type: "announced"; readonly update: CapacityUpdate }
  | { readonly type: "bus"; readonly state: BusState };
