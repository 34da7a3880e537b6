import type { BusState } from "@hivepace/bus";
import type { Capacity, RateLimiter } from "@hivepace/core";

/** A limiter whose limits hold for all agents on the bus together. */
export interface DistributedLimiter extends RateLimiter {
  readonly agentId: string;
  getCapacity(resource: string): DistributedCapacity | undefined;
  /** The state of this agent and its knowledge of the swarm, for people and metrics. */
  status(): DistributedStatus;
}

/** Capacity of a shared resource. `available` and `inFlight` are of this agent; `total` is of the swarm, per window. */
export interface DistributedCapacity extends Capacity {
  /** This agent's fair share of the total, which depends on the demand of the others. */
  readonly share: number;
  /** The limit that was set at this agent. */
  readonly configured: number;
}

/**
 * - `listening`: has just joined and does not send yet
 * - `alone`: no other agent is live
 * - `member`: one of several agents
 * - `cut-off`: hears neither the others nor itself, and keeps to its share of the last agreement
 */
export type SwarmMode = "listening" | "alone" | "member" | "cut-off" | "closed";

/** What an agent knows of the others, and they of it. */
export interface SwarmStatus {
  readonly agentId: string;
  readonly mode: SwarmMode;
  /** "none" without a bus. */
  readonly bus: BusState | "none";
  /** How shares are agreed on now, and the age of the store's last answer; undefined when it has never answered. */
  readonly aggregation: "bus" | "store";
  readonly storeAgeMs: number | undefined;
  /** Failed calls of the store, and the reason of the last failure. */
  readonly storeFailures: number;
  readonly lastStoreFailure: string | undefined;
  /** Live agents, this one included. */
  readonly members: number;
  readonly peers: readonly PeerStatus[];
  /** Age of the last message from another agent; undefined when there was none. */
  readonly viewAgeMs: number | undefined;
  /** Age of the last own message that the bus echoed. */
  readonly lastEchoAgeMs: number | undefined;
  /** True when another process uses the same id. */
  readonly isDuplicate: boolean;
  readonly published: number;
  readonly publishedBytes: number;
  /** Messages that could not be published, and the reason of the last failure. */
  readonly unpublished: number;
  readonly lastFailure: string | undefined;
  /** Ignored messages, by reason. */
  readonly ignored: Readonly<Record<string, number>>;
}

/** The status of a limiter, with its resources. */
export interface DistributedStatus extends SwarmStatus {
  readonly bus: BusState;
  readonly resources: readonly ResourceStatus[];
}

/** Another agent, as known from its messages. */
export interface PeerStatus {
  readonly agentId: string;
  readonly state: "live" | "silent" | "left";
  readonly heardAgoMs: number;
}

/** One shared limit. */
export interface ResourceStatus {
  readonly resource: string;
  readonly configured: number;
  readonly total: number;
  readonly share: number;
  /** The level of the capacity, 0 to 1, the cause of the last cut, and the remaining pause of all agents. */
  readonly level: number;
  readonly cause: LevelCause | undefined;
  readonly pausedForMs: number;
  readonly waiting: number;
  readonly inFlight: number;
}

/** The agent that made the last cut, its reason, and its age. */
export interface LevelCause {
  readonly agentId: string;
  readonly reason: string;
  readonly agoMs: number;
}
