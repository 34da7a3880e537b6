/**
 * A store that grants each agent of a large swarm its part of every quota. Each agent makes one call per heartbeat, and
 * agents do not listen to each other. The store handles one call after the other, so it can hand out a limit piece by
 * piece.
 *
 * An implementation must hold these rules, for each quota separately:
 *
 * - **The limit holds.** Whenever the store grants more, the sum of granted and not yet reported usage, the usage of
 *   the last window and the capacity held for silent agents is at most the capacity. Usage counts from the time of its
 *   report, or from the time that the report states: late, never early.
 * - **Grants.** A grant belongs to the agent until a report of the agent returns it. A reply may ask for a part of it
 *   back; that part is free once the next report shows that the agent has given it up.
 * - **A report is absolute.** A repeated report, or an older one after a newer one, changes nothing. A later
 *   incarnation of an agent ends the earlier ones; their granted but unreported capacity counts as used.
 * - **Fairness.** Waiting agents are served in turn: the agent with the least recent usage relative to its weight comes
 *   first, and among equals the one that has waited longest. At most half of the capacity for which no agent waits may
 *   be granted in advance.
 * - **Learning.** A store grants nothing for `LEARN_HEARTBEATS` and collects the usage of all agents when it has lost
 *   its memory, when an agent has seen a later `stamp`, or when no agent has reached it for that long.
 * - **Journals.** The usage in a report with `journal` counts as in any other, and stays for a window whatever becomes of its
 *   agent. Such an agent is granted nothing, and nothing is held for it.
 * - **Silent agents.** The capacity that an agent may go on using by itself after it stops reporting without a goodbye
 *   stays reserved for as long as an isolated agent may use it.
 * - Messages carry ages, never points in time. Every call ends in bounded time; a call that rejects may have been
 *   counted.
 *
 * `packages/core/src/testing/allocator/ledger.ts` implements all of this in memory and is the reference for others.
 */
export interface Allocator {
  /**
   * Reports usage and receives grants for all quotas in one exchange.
   *
   * @throws SYNC_UNAVAILABLE or SYNC_CLOSED, as a rejection
   */
  allocate(request: AllocationRequest): Promise<AllocationReply>;
}

/** Number of bins in which a window of usage is reported, the youngest first. */
export const USAGE_BINS = 12;
/** Number of heartbeats for which a store without enough knowledge grants nothing. */
export const LEARN_HEARTBEATS = 2.5;

/** One agent's report to an `Allocator`, for all of its quotas. */
export interface AllocationRequest {
  readonly namespace: string;
  readonly agentId: string;
  /** Incarnation of this agent; a later one has a higher number. */
  readonly life: number;
  /** Sequence number of the report; grows with every report of an incarnation. */
  readonly sequence: number;
  readonly weight: number;
  readonly heartbeatMs: number;
  /** The agent will report again within this time. */
  readonly nextMs: number;
  /** Whether this is the agent's last report, after which the agent holds no grants. */
  readonly bye: boolean;
  readonly quotas: readonly QuotaRequest[];
}

/** The part of a report that concerns one quota. All lists of amounts have the length of `limits`. */
export interface QuotaRequest {
  readonly name: string;
  readonly windowMs: number;
  /**
   * The limits that this agent has configured; the smallest among all live agents apply. An empty list marks a
   * roll-call, which only counts agents.
   */
  readonly limits: readonly number[];
  /** Share of the limits that a swarm of several agents leaves free, and the lowest backoff level that may apply. */
  readonly headroom: number;
  readonly least: number;
  /** The highest `stamp` that this agent has received; 0 when it has received none. */
  readonly stamp: number;
  /** Totals of this incarnation: amounts spent, amounts refunded, and the age of the last change of each. */
  readonly sent: readonly number[];
  readonly back: readonly number[];
  readonly sentAgoMs: number;
  readonly backAgoMs: number;
  /** The value that `sent` may grow to: all capacity that was granted to this agent and not given up. */
  readonly allowed: readonly number[];
  /** Usage of the last window in `USAGE_BINS` bins; empty bins at the end are left out. */
  readonly bins: readonly (readonly number[])[];
  /** The cost of the first waiting call, and the agent's total demand. */
  readonly next: readonly number[];
  readonly all: readonly number[];
  readonly level: ReportedLevel | undefined;
  /**
   * Marks a limit on calls in flight. `bins` then holds this agent's calls in flight, which count until the agent
   * reports fewer of them, or until this time passes without a report. Absent for limits on the usage of a window.
   */
  readonly endsMs?: number | undefined;
  /** Present only in a roll-call. */
  readonly crowd: RollCall | undefined;
  /**
   * Present in a report of an agent that has its capacity from elsewhere: the store counts the usage, for agents that start
   * later, and grants nothing.
   */
  readonly journal?: Journal | undefined;
}

/** What an agent wants of a quota's journal. */
export interface Journal {
  /** The reply contains the usage of the last window. */
  readonly isAsking: boolean;
}

/**
 * An agent's input to a roll-call: whether it is in store mode, and the numbers of agents above and below which all
 * agents enter and leave that mode.
 */
export interface RollCall {
  readonly isStore: boolean;
  readonly above: number;
  readonly below: number;
}

/**
 * The backoff level of a swarm as a store keeps it. Of two levels the later one applies, compared by epoch, lower
 * `levelAtCut`, `pauseCount`, longer pause and tie, in this order.
 */
export interface ReportedLevel {
  readonly epoch: number;
  readonly levelAtCut: number;
  readonly pauseCount: number;
  readonly pauseMs: number;
  /**
   * Tie-break of up to eight hexadecimal digits. The larger number wins; ties of different lengths are compared by
   * value.
   */
  readonly tie: string;
  readonly recoveryFactor: number;
  readonly recoveryIntervalMs: number;
  readonly levelMax: number;
  /** The ages of the cut and of the pause. */
  readonly cutAgoMs: number;
  readonly pausedAgoMs: number;
  readonly origin: string;
  readonly reason: string;
}

/** An `Allocator`'s reply. */
export interface AllocationReply {
  /** The store's clock, in milliseconds since 1970. */
  readonly epochMs: number;
  /** One reply for each quota of the report, in the same order. */
  readonly quotas: readonly QuotaReply[];
}

/** The part of a reply that concerns one quota. */
export interface QuotaReply {
  /**
   * Why this quota has no reply: a later incarnation of the agent exists, or the store cannot keep the quota. All other
   * fields are empty then.
   */
  readonly error: string | undefined;
  readonly stamp: number;
  /** Whether the store is still learning; the agent keeps its present grants. */
  readonly isLearning: boolean;
  readonly members: number;
  readonly weights: number;
  /** The smallest configured limits, and the capacity that all agents together may use in a window now. */
  readonly limits: readonly number[];
  readonly capacity: readonly number[];
  /** The part of the capacity that is used, granted or held for silent agents. */
  readonly used: readonly number[];
  /** The value that `sent` may grow to. */
  readonly allowed: readonly number[];
  /**
   * The amount this agent may use in a window if it receives no further reply; the sum over all agents is at most the
   * capacity.
   */
  readonly fair: readonly number[];
  readonly level: ReportedLevel | undefined;
  /**
   * In reply to a journal that asks: usage of all agents in the last window in `USAGE_BINS` bins, the youngest first, each
   * as if all of it had happened at the end of its bin.
   */
  readonly bins?: readonly (readonly number[])[] | undefined;
  /** In a roll-call: whether all agents should be in store mode. */
  readonly isStore: boolean;
}
