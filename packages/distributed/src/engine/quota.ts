import type { AdaptiveConfig } from "./adaptive-limit.ts";
import { type Amounts, copyOf, zeros } from "./amounts.ts";
import type { Dimensions } from "./dimensions.ts";
import type { ExternalUsage } from "./external-usage.ts";
import { HeldUsage } from "./held-usage.ts";
import { FULL, type Level, type LevelRules } from "./level.ts";
import type { ClaimReport, QuotaReport } from "./message.ts";
import { Pace } from "./pace.ts";
import { RefundAges } from "./refund-ages.ts";
import { newSlots, type Slots } from "./slots.ts";
import { newSubWindows, type SubWindowConfig, type SubWindows } from "./sub-windows.ts";
import { UnreportedRefunds } from "./unreported-refunds.ts";
import { UsageWindow } from "./usage-window.ts";
import type { Place, VirtualTime } from "./virtual-time.ts";

/** Limits that share a window. Name, window and dimensions identify the quota. */
export interface QuotaConfig {
  readonly name: string;
  readonly limits: Amounts;
  /** Names of the units that the limits count, in their order. `@defaultValue` requests, tokens, then positions */
  readonly dimensions?: Dimensions | undefined;
  readonly windowMs: number;
  /** Shorter windows with limits of their own. `@defaultValue` none */
  readonly subWindows?: readonly SubWindowConfig[] | undefined;
  /**
   * Index of the limit that is shown to users, and announced to agents that support a single limit. `@defaultValue` 0
   */
  readonly main?: number | undefined;
  readonly rules: LevelRules;
  /** Maximum duration of a call unless it is renewed. Set only for a limit on calls under way. */
  readonly leaseMs?: number | undefined;
  /** Bounds of an adaptive limit on calls under way; `limits` is the upper bound. */
  readonly adaptive?: AdaptiveConfig | undefined;
}

/** An agent's complete state of one quota. Each record has its own invariants; only the engine changes them. */
export interface Quota {
  config: QuotaConfig;
  /** Effective limits: the smallest that any live agent has configured, in each dimension. */
  limits: number[];
  readonly usage: Usage;
  readonly subWindows: SubWindows;
  readonly pacing: Pacing;
  readonly demand: Demand;
  readonly claims: Claims;
  readonly backoff: Backoff;
  readonly reporting: Reporting;
  readonly history: History;
  readonly isolation: Isolated;
  /** Capacity left free for peers that observe: their usage until as much has left the window. */
  heldForObservers: number[];
  readonly allocation: Allocation;
  /** State of a quota of slots, which has one dimension; undefined for other quotas. */
  readonly slots: Slots | undefined;
}

/** The usage of a quota. */
interface Usage {
  /** Usage of all agents in the last window, as far as this agent knows. */
  readonly swarm: UsageWindow;
  /** Usage of this agent in the last window. */
  readonly own: UsageWindow;
  /** The part of `swarm` that no live peer has reported: usage of departed agents, and usage shown by answers. */
  readonly unattributed: UsageWindow;
  /** Recent observations of usage that no agent has reported yet. Each expires after a few heartbeats. */
  external: ExternalUsage[];
  /** Lifetime totals of this incarnation. They never decrease, and `refundedTotal` never exceeds `spentTotal`. */
  readonly spentTotal: number[];
  readonly refundedTotal: number[];
  /** Ages of the calls that settled recently. */
  refundAges: RefundAges;
  unreportedRefunds: UnreportedRefunds;
  /** Recent costs as estimated, and the unused part of them: sums in which each new call counts a fiftieth. */
  readonly recentCost: number[];
  readonly recentRefund: number[];
  /** Time from which each dimension has been counted. Calls sent earlier cannot be refunded in that dimension. */
  readonly countedSince: number[];
  /** Typical cost of a call: follows larger calls at once and smaller ones slowly. */
  readonly typicalCost: number[];
  /** Time of this agent's latest call. */
  sentAt: number;
}

/** The state of the steady pace under contention. */
interface Pacing {
  /** Lead of the swarm over the steady pace. */
  readonly lead: Pace;
  /** Own calls are spread until then. */
  spreadUntil: number;
  /** Time until which a caller of some agent is known to have waited for long. */
  contendedUntil: number;
}

/** The demand of this agent. Nothing waits while `next` is undefined; then `waitingSince` is Infinity. */
interface Demand {
  /** Cost of the next call. */
  next: Amounts | undefined;
  /** Cost of all waiting calls, `next` included. */
  all: Amounts;
  /** No caller waits: the demand is that of a denied `tryAcquire`. */
  isTried: boolean;
  waitingSince: number;
}

/**
 * Claims of all agents, in the order of their virtual times. `sum` is the sum of the claims in `others`, and every entry of
 * `others` has a claim.
 */
export interface Claims {
  own: OwnClaim | undefined;
  /** Number of claims opened by this incarnation. */
  opened: number;
  readonly others: Set<PeerQuota>;
  readonly sum: number[];
  /** Sum of the claims before the own one; undefined until it is needed. */
  ahead: number[] | undefined;
  /** The peer whose claim is first; undefined until it is needed. */
  head: PeerQuota | undefined;
  readonly virtualTime: VirtualTime;
  /**
   * Remaining advance of the swarm's virtual time by unsigned messages: `left` at `at`, growing with time at the rate
   * of service.
   */
  readonly advance: { left: number; at: number };
}

/** Capacity that this agent claims, and may use once all claims before it are served. */
export interface OwnClaim extends Place {
  /** The unused part of the claim. Never negative. */
  readonly amounts: number[];
  /** Rate at which the claim is used under contention. */
  readonly perMs: Amounts;
  /** Time of the claim's first publication, and the message that contained it; Infinity before that. */
  publishedAt: number;
  seq: number;
  /** All agents know the claim, and capacity is held free for peers that may not. */
  isChecked: boolean;
}

/** The backoff level of the quota: the fraction of the limit that the swarm uses. `level` is only replaced by a later one. */
export interface Backoff {
  level: Level;
  /** Time of the cut of `level`, as first learned. Unsigned messages move it by transit times only. */
  learnedCutAt: number;
  /** Time at which this agent learned of the level. Refusals of calls sent earlier belong to the same congestion. */
  knownAt: number;
  /** An epoch too far ahead to accept from one message, and when it was first received. */
  farAhead: { readonly epoch: number; readonly since: number } | undefined;
}

/** The state of reporting: the information that peers have about this agent, and the time of the next report. */
interface Reporting {
  /** Time of the next report of the quota; Infinity when only the next heartbeat reports it. */
  dueAt: number;
  /** Number of retransmissions that follow the next report. */
  repeats: number;
  reportedAt: number;
  /** Time of the last change that peers should know. */
  changedAt: number;
  /** Usage without a claim that peers may not know of yet. At least the sum of `unreported` and of all reports in transit. */
  readonly unconfirmed: number[];
  /** The part of `unconfirmed` that no report contains. */
  unreported: number[];
  /** Reports that some peer may not have received yet, oldest first. */
  readonly inTransit: Report[];
  /** Demand of the latest report that all peers have received. */
  confirmedDemand: Amounts;
  /** Limits of the latest report. */
  reportedLimits: Amounts;
  /** Until then, a newcomer needs the usage from before its start. */
  welcomeUntil: number;
}

/** One report: the usage that the report was the first to contain, and the demand at that time. */
interface Report {
  readonly seq: number;
  readonly at: number;
  readonly unconfirmed: Amounts;
  readonly demand: Amounts;
}

/** The extent of this agent's knowledge from before it knew the quota. */
interface History {
  /** Time at which this agent configured the quota. Earlier reports are remembered ones. */
  readonly configuredAt: number;
  /** Usage of the swarm as peers reported it while this agent joined; applied at the end of the join phase. */
  joinSnapshot: JoinSnapshot | undefined;
  /** Usage of the swarm as the store's journal had it while this agent joined; applied in the same way. */
  journalSnapshot: EarlierUsage | undefined;
  /** The times of some usage are known only approximately until then. */
  approximateUntil: number;
  /** At least one peer is younger than one window until then. */
  newcomersUntil: number;
}

/** Usage of the swarm before a time, in bins of equal length, youngest first. */
export interface EarlierUsage {
  readonly at: number;
  readonly bins: readonly Amounts[];
}

/** The earlier usage as one peer knows it. */
export interface JoinSnapshot extends EarlierUsage {
  /** Age of the peer: it knows younger usage exactly, and older usage from a snapshot of its own. */
  readonly upMs: number;
}

/** The capacity of silent agents: of this one while it is isolated, and of peers that have stopped reporting. */
interface Isolated {
  /** Set while this agent is isolated, and while it moves between the bus and the store. */
  budget: IsolationBudget | undefined;
  /** Time at which this isolated agent last sent a call larger than its budget. */
  savedSince: number;
  /** Capacity held free for silent peers, which may be using it. */
  heldForSilent: number[];
}

/** Usage that a silent agent may have in one window: at first `from`, one window later `to`, linear in between. */
export interface BudgetRange {
  readonly from: Amounts;
  readonly to: Amounts;
}

/** The budget of this agent while it is isolated. */
export interface IsolationBudget extends BudgetRange {
  readonly since: number;
  /** True when peers hold the same budget free; false for an agent that has never received a message. */
  readonly isAgreed: boolean;
}

/** The state of the store's grants, in store mode. */
interface Allocation {
  grant: Grant | undefined;
  /** Demand that the store knows and has not granted yet. */
  requested: Amounts;
  /** The store's journal of the quota, while the bus decides. */
  readonly journal: Journalled;
}

/** The knowledge that this agent and the store have of each other's usage, while the bus decides. */
interface Journalled {
  /** Sums of the totals that the store has confirmed, and of those under way. */
  confirmed: number;
  underWay: number;
  askedAt: number;
  /** The store has told the usage of the window. */
  isTold: boolean;
}

/** The latest answer of the store about a quota. */
interface Grant {
  /** Bound of `spentTotal`. */
  allowed: number[];
  /** This agent's fair share of the limit, per window. */
  readonly fair: Amounts;
  readonly capacity: Amounts;
  readonly stamp: number;
  /** The store does not know the quota well enough yet, or knows another process with this agent's id. */
  readonly isLearning: boolean;
  /** The store has known the quota well enough before. */
  readonly isAgreed: boolean;
}

/** This agent's knowledge of a peer's part in a quota. */
export interface PeerQuota {
  /** Latest report, converted to the dimensions and window of this agent's quota. */
  report: QuotaReport;
  /** Latest report as received, in the peer's own dimensions and window. */
  receivedReport: QuotaReport;
  /** The peer's claim; changed only by `setClaim`, which maintains the sums in {@link Claims}. */
  claim: ClaimReport | undefined;
  /** Time at which the claim was first received, in its present place. */
  claimedAt: number;
  reportedAt: number;
  /** The peer announced its next message within this time. */
  nextMs: number;
  /** Capacity held free for the peer once it is silent. */
  heldBudget: BudgetRange | undefined;
  /** Slots of the peer that `Usage.swarm` contains, and when its last known calls will have ended. */
  slots: number;
  slotsUntil: number;
  /** Without signatures: the usage of this peer in {@link Usage.swarm}, which bounds its refunds. */
  counted: UsageWindow | undefined;
}

/** Lifetime totals of one dimension. */
export interface Totals {
  readonly spentTotal: number;
  readonly refundedTotal: number;
}

export function newQuota(config: QuotaConfig, now: number): Quota {
  const { limits, windowMs } = config;
  const { length } = limits;
  const isHeld = config.leaseMs !== undefined;
  const newWindow = () => (isHeld ? new HeldUsage(length, windowMs) : new UsageWindow(length, windowMs));
  return {
    config,
    limits: copyOf(limits),
    usage: {
      swarm: newWindow(),
      own: newWindow(),
      unattributed: newWindow(),
      external: [],
      spentTotal: zeros(length),
      refundedTotal: zeros(length),
      refundAges: new RefundAges(),
      unreportedRefunds: new UnreportedRefunds(),
      recentCost: zeros(length),
      recentRefund: zeros(length),
      countedSince: zeros(length).fill(-Infinity),
      typicalCost: zeros(length),
      sentAt: -Infinity,
    },
    subWindows: newSubWindows(),
    pacing: { lead: new Pace(length, windowMs), spreadUntil: -Infinity, contendedUntil: -Infinity },
    demand: { next: undefined, all: zeros(length), isTried: false, waitingSince: Infinity },
    claims: {
      own: undefined,
      opened: 0,
      others: new Set(),
      sum: zeros(length),
      ahead: undefined,
      head: undefined,
      virtualTime: { own: 0, swarm: 0 },
      advance: { left: Infinity, at: now },
    },
    backoff: { level: FULL, learnedCutAt: -Infinity, knownAt: -Infinity, farAhead: undefined },
    reporting: {
      dueAt: Infinity,
      repeats: 0,
      reportedAt: -Infinity,
      changedAt: -Infinity,
      unconfirmed: zeros(length),
      unreported: zeros(length),
      inTransit: [],
      confirmedDemand: zeros(length),
      reportedLimits: limits,
      welcomeUntil: -Infinity,
    },
    history: {
      configuredAt: now,
      joinSnapshot: undefined,
      journalSnapshot: undefined,
      approximateUntil: -Infinity,
      newcomersUntil: -Infinity,
    },
    isolation: { budget: undefined, savedSince: -Infinity, heldForSilent: zeros(length) },
    heldForObservers: zeros(length),
    allocation: {
      grant: undefined,
      requested: zeros(length),
      journal: { confirmed: 0, underWay: 0, askedAt: -Infinity, isTold: false },
    },
    slots: isHeld ? newSlots(config.adaptive, now) : undefined,
  };
}
