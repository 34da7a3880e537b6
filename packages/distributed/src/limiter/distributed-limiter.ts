import type { BusState } from "@hivepace/bus";
import type { Capacity, RateLimiter } from "@hivepace/core";

/** A limiter whose limits are those of all agents on the bus together. */
export interface DistributedLimiter extends RateLimiter {
  readonly agentId: string;
  getCapacity(resource: string): DistributedCapacity | undefined;
  /** What it knows of the others, and they of it: for people and for metrics. */
  status(): DistributedStatus;
}

/** `available` and `inFlight` are this agent's; `total` is what all may use together in a window now. */
export interface DistributedCapacity extends Capacity {
  /** This agent's fair part of the total now; less or more as others want more or less. */
  readonly share: number;
  /** What was set here. */
  readonly configured: number;
}

/**
 * - `listening`: too new to send
 * - `alone`: nobody else is there
 * - `member`: one of several
 * - `cut-off`: it does not hear the others, or itself; it goes on with its part of the last agreement
 */
export type SwarmMode = "listening" | "alone" | "member" | "cut-off" | "closed";

/** What an agent knows of the others, and they of it. */
export interface SwarmStatus {
  readonly agentId: string;
  readonly mode: SwarmMode;
  /** "none": it has no bus and is alone. */
  readonly bus: BusState | "none";
  /** Who says how much each may use now; and how long ago the store last answered, undefined when never. */
  readonly aggregation: "bus" | "store";
  readonly storeAgeMs: number | undefined;
  /** Calls of the store without an answer, and why the last one had none. */
  readonly storeFailures: number;
  readonly lastStoreFailure: string | undefined;
  /** Live agents, this one included. */
  readonly members: number;
  readonly peers: readonly PeerStatus[];
  /** How long ago this agent last heard anyone; undefined when never. */
  readonly viewAgeMs: number | undefined;
  /** How long ago one of its own messages came back to it. */
  readonly lastEchoAgeMs: number | undefined;
  /** Another process goes by the same id. */
  readonly isDuplicate: boolean;
  readonly published: number;
  readonly publishedBytes: number;
  /** Messages that the bus did not take, and why the last one was not. */
  readonly unpublished: number;
  readonly lastFailure: string | undefined;
  /** Messages that changed nothing, by reason. */
  readonly ignored: Readonly<Record<string, number>>;
}

/** What an agent knows of the others, and each of its resources. */
export interface DistributedStatus extends SwarmStatus {
  readonly bus: BusState;
  readonly resources: readonly ResourceStatus[];
}

/** Another agent, as far as it was heard. */
export interface PeerStatus {
  readonly agentId: string;
  readonly state: "live" | "silent" | "left";
  readonly heardAgoMs: number;
}

/** One limit that all agents hold together. */
export interface ResourceStatus {
  readonly resource: string;
  readonly configured: number;
  readonly total: number;
  readonly share: number;
  /** What is left of the capacity, 0 to 1; whoever cut it, why and when; and for how long all pause. */
  readonly level: number;
  readonly cause: LevelCause | undefined;
  readonly pausedForMs: number;
  readonly waiting: number;
  readonly inFlight: number;
}

/** Who cut a capacity last, why, and how long ago. */
export interface LevelCause {
  readonly agentId: string;
  readonly reason: string;
  readonly agoMs: number;
}
