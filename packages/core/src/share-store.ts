/**
 * Where the agents of a large swarm are told how much each may use: one call a heartbeat and agent, in the place of
 * everybody hearing everybody. A store answers one call after the other, so it can hand out a limit piece by piece.
 *
 * What an implementation owes, for each pool by itself:
 *
 * - **The limit holds.** What it has handed out and was not told of, what was used in the last window, and what is kept
 *   free for the silent are together never more than the capacity when it hands out more. Use counts from when it is
 *   reported, or from when its agent says that it was: late, never early.
 * - **What was handed out** is the agent's until it says in a report that it no longer has it. An answer may ask for some
 *   of it back; that is free when the next report shows that the agent has let go.
 * - **A report is absolute.** The same twice, or an older one after a newer one, changes nothing. A later life of an
 *   agent ends the earlier ones; what they were handed and did not report counts as used.
 * - **Fair.** Whoever waits is served in turn: whoever got least of late, by weight, is first, and among equals whoever
 *   came first. What nobody waits for may be lent in advance, half of it at most.
 * - **Learning.** A store that has no memory, less than an agent has seen (`stamp`), or that nobody has reached for
 *   `LEARN_HEARTBEATS` hands out nothing for as long, and gathers what all have used.
 * - **The silent.** For one that stopped reporting without a goodbye, what it may go on using by itself is kept free,
 *   as long as `trust` says.
 * - Ages travel, never times. Every call ends in bounded time; one that rejects may have been counted.
 *
 * `packages/core/src/testing/share-ledger.ts` is all of this in memory: the reference for others.
 */
export interface ShareStore {
  /** Reports and is told, for all pools in one exchange. Rejects with SYNC_UNAVAILABLE or SYNC_CLOSED. */
  share(report: ShareReport): Promise<ShareReply>;
}

/** A window is reported in this many bins, the youngest first. */
export const SHARE_BINS = 12;
/** For so many heartbeats a store that does not know enough hands out nothing. */
export const LEARN_HEARTBEATS = 2.5;

/** What an agent says to a store that hands out, of all its pools at once. */
export interface ShareReport {
  readonly namespace: string;
  readonly agentId: string;
  /** Which life of this agent: a later one has a higher number. */
  readonly life: number;
  /** Grows with every report of a life. */
  readonly sequence: number;
  readonly weight: number;
  readonly heartbeatMs: number;
  /** It will report again within this. */
  readonly nextMs: number;
  /** Its last report: it holds nothing any more. */
  readonly bye: boolean;
  readonly pools: readonly SharePool[];
}

/** One pool of a report. All lists of amounts have the length of `limits`. */
export interface SharePool {
  readonly name: string;
  readonly windowMs: number;
  /** As configured there; the smallest of all live agents count. None at all: a roll-call, in which agents are counted. */
  readonly limits: readonly number[];
  /** Part of the limits that several agents leave free, and the least part that a level leaves. */
  readonly headroom: number;
  readonly least: number;
  /** The highest `stamp` that it was ever told; 0 when none. */
  readonly stamp: number;
  /** All that it has used in this life; all of it that turned out not to be used; how long ago the last of each was sent. */
  readonly sent: readonly number[];
  readonly back: readonly number[];
  readonly sentAgoMs: number;
  readonly backAgoMs: number;
  /** Up to where `sent` may grow: what it was handed and has not let go. */
  readonly allowed: readonly number[];
  /** What it used in its last window, see `SHARE_BINS`; those at the end that are nothing are left out. */
  readonly bins: readonly (readonly number[])[];
  /** The call that waits first, and all that it wants. */
  readonly next: readonly number[];
  readonly all: readonly number[];
  readonly level: ShareLevel | undefined;
  /** In a roll-call: whether it is in store mode, and how many agents make all enter and leave that. */
  readonly crowd: ShareCrowd | undefined;
}

/** What a roll-call has to know of an agent. */
export interface ShareCrowd {
  readonly isStore: boolean;
  readonly above: number;
  readonly below: number;
}

/** The level of a swarm as a store keeps it: the later word counts, by epoch, lower base, round, longer pause and tie. */
export interface ShareLevel {
  readonly epoch: number;
  readonly base: number;
  readonly round: number;
  readonly pauseMs: number;
  /** Lower-case hexadecimal digits. */
  readonly tie: string;
  readonly recoveryFactor: number;
  readonly recoveryIntervalMs: number;
  readonly most: number;
  /** How long ago the cut and the pause began. */
  readonly cutAgoMs: number;
  readonly pausedAgoMs: number;
  readonly origin: string;
  readonly reason: string;
}

/** What such a store answers. */
export interface ShareReply {
  /** The store's clock, in milliseconds since 1970. */
  readonly epochMs: number;
  /** One for each pool of the report, in its order. */
  readonly pools: readonly ShareAnswer[];
}

/** The part of an answer that is of one pool. */
export interface ShareAnswer {
  /** Why this one has no answer: a later life of the agent is there, or the store cannot keep it. The rest is nothing then. */
  readonly error: string | undefined;
  readonly stamp: number;
  /** It does not know enough yet: go on with what you had. */
  readonly isLearning: boolean;
  readonly members: number;
  readonly weights: number;
  /** The smallest that are configured, and what all may use in a window now. */
  readonly limits: readonly number[];
  readonly capacity: readonly number[];
  /** What is used, handed out or kept free of that. */
  readonly used: readonly number[];
  /** Up to where `sent` may grow. */
  readonly allowed: readonly number[];
  /** What it may use in a window if it hears nothing more: over all agents together no more than the capacity. */
  readonly fair: readonly number[];
  readonly level: ShareLevel | undefined;
  /** In a roll-call: whether all should be in store mode. */
  readonly isStore: boolean;
}
