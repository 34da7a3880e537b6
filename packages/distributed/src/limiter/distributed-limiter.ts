import type { BusState } from "@hivepace/bus";
import type { Capacity, CapacityOptions, RateLimiter } from "@hivepace/core";
import type { SlotLimit } from "./slot-config.ts";
import type { ShorterLimit } from "./window-limits.ts";

/** Further limits of a shared resource. */
export interface SharedCapacityOptions extends CapacityOptions {
  /**
   * Limits over shorter windows, for a provider that enforces its limit over seconds. Requests larger than such a limit are
   * never granted. Requires `sharing: "fair"`.
   *
   * @defaultValue none; with `recovery: "measured"`, shorter windows are learned from refusals
   *
   * @example
   * ```ts
   * import type { DistributedLimiter } from "@hivepace/distributed";
   *
   * // 600 a minute, enforced as 10 in each second.
   * export function configure(limiter: DistributedLimiter): void {
   *   limiter.setCapacity("api", 600, 60_000, { limits: [{ limit: 10, windowMs: 1_000 }] });
   * }
   * ```
   */
  readonly limits?: readonly ShorterLimit[] | undefined;
  /**
   * Maximum number of calls of all agents together that are under way at a time, from `acquire` until `finish`.
   *
   * @defaultValue no limit
   */
  readonly maxInFlight?: SlotLimit | undefined;
  /**
   * Time after which an unfinished call ends by itself and frees its slot, in milliseconds. The slots of a crashed
   * agent also stay held for this time, so choose slightly more than the longest call.
   *
   * @defaultValue 900,000
   */
  readonly leaseMs?: number | undefined;
}

/** A limiter whose limits hold for all agents on the bus together. */
export interface DistributedLimiter extends RateLimiter {
  /** Id of this agent. */
  readonly agentId: string;
  setCapacity(resource: string, capacity: number, windowMs: number, options?: SharedCapacityOptions): void;
  getCapacity(resource: string): DistributedCapacity | undefined;
  /** Returns the state of this agent and its knowledge of the swarm, for display and metrics. */
  status(): DistributedStatus;
}

/**
 * Capacity of a shared resource. `available` and `inFlight` concern this agent; `total` concerns the swarm, per window.
 */
export interface DistributedCapacity extends Capacity {
  /** This agent's fair share of the total, which depends on the demand of the other agents. */
  readonly share: number;
  /** The limit that was set at this agent. */
  readonly configured: number;
}

/**
 * Participation of an agent in the swarm at present.
 * - `joining`: has just started and does not send yet
 * - `alone`: no other agent is live
 * - `member`: one of several agents
 * - `isolated`: receives neither messages of other agents nor its own, and keeps to its share of the last agreement
 * - `closed`: has left the swarm
 */
export type SwarmMode = "joining" | "alone" | "member" | "isolated" | "closed";

/** An agent's state and its knowledge of the swarm. */
export interface SwarmStatus {
  /** Id of this agent. */
  readonly agentId: string;
  readonly mode: SwarmMode;
  /** State of the bus; "none" without a bus. */
  readonly bus: BusState | "none";
  /**
   * Present method by which agents agree on shares, and the age of the store's last answer; the age is undefined before
   * the first answer.
   */
  readonly aggregation: "bus" | "store";
  readonly storeAgeMs: number | undefined;
  /** Number of failed store calls, and the reason of the last failure. */
  readonly storeFailures: number;
  readonly lastStoreFailure: string | undefined;
  /** Live agents, this one included. */
  readonly members: number;
  /** The other agents that this agent knows. */
  readonly peers: readonly PeerStatus[];
  /** Age of the last message from another agent; undefined before the first one. */
  readonly viewAgeMs: number | undefined;
  /** Age of the last own message that the bus echoed. */
  readonly lastEchoAgeMs: number | undefined;
  /** True when another process uses the same id. */
  readonly isDuplicate: boolean;
  /** Number of published messages, and their size in bytes. */
  readonly published: number;
  readonly publishedBytes: number;
  /** Number of messages that could not be published, and the reason of the last failure. */
  readonly unpublished: number;
  readonly lastFailure: string | undefined;
  /** Number of ignored messages, by reason. */
  readonly ignored: Readonly<Record<string, number>>;
}

/** The status of a limiter, with its resources. */
export interface DistributedStatus extends SwarmStatus {
  readonly bus: BusState;
  /** State of each resource. */
  readonly resources: readonly ResourceStatus[];
}

/** Another agent, as known from its messages. */
export interface PeerStatus {
  readonly agentId: string;
  readonly state: "live" | "silent" | "left";
  /** Time since the last message of the peer, in milliseconds. */
  readonly lastMessageAgoMs: number;
}

/** One shared limit. */
export interface ResourceStatus {
  readonly resource: string;
  /** The limit that was set at this agent, per window. */
  readonly configured: number;
  /** Capacity of the swarm per window now. */
  readonly total: number;
  /** This agent's share of the total. */
  readonly share: number;
  /** Level of the capacity, 0 to 1, the cause of the last cut, and the remaining pause of all agents. */
  readonly level: number;
  readonly cause: LevelCause | undefined;
  readonly pausedForMs: number;
  /** Number of requests that wait in this process. */
  readonly waiting: number;
  /** Number of calls of this process under way. */
  readonly inFlight: number;
  /** The calls of all agents that are under way; undefined without `maxInFlight`. */
  readonly slots: SlotStatus | undefined;
  /** Limits over shorter windows, configured or learned from refusals. */
  readonly windows: readonly WindowStatus[];
}

/** A limit over a window shorter than that of its resource. */
export interface WindowStatus extends ShorterLimit {
  /** True when refusals have shown the limit. */
  readonly isLearned: boolean;
  /** Usage of all agents in this window, as far as this agent knows. */
  readonly used: number;
}

/** Calls under way, where `maxInFlight` limits them. */
export interface SlotStatus {
  /** Maximum number of calls of all agents that may be under way now. */
  readonly limit: number;
  /** Calls under way of all agents, as far as this agent knows (`used`), and of this agent. */
  readonly used: number;
  readonly usedHere: number;
  /** Slots of departed or silent agents whose calls may not have ended yet. */
  readonly departed: number;
  /** The oldest call of all agents, if it has been under way for unusually long. */
  readonly longest: { readonly agentId: string; readonly heldMs: number } | undefined;
}

/** The agent that made the last cut, its reason, and its age. */
export interface LevelCause {
  readonly agentId: string;
  readonly reason: string;
  /** Time since the cut, in milliseconds. */
  readonly agoMs: number;
}
