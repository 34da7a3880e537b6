import { type Amounts, zeros } from "./amounts.ts";
import type { Dimensions } from "./dimensions.ts";
import type { Elsewhere } from "./elsewhere.ts";
import { FULL, type Level, type LevelRules } from "./level.ts";
import type { ClaimReport, PoolReport } from "./message.ts";
import { Pace } from "./pace.ts";
import { RefundAges } from "./refund-ages.ts";
import type { Allotment } from "./store-side.ts";
import type { Place, Turns } from "./turn.ts";
import { UseWindow } from "./use-window.ts";

/** Limits that share a window. Name, window and dimensions identify the quota. */
export interface PoolConfig {
  readonly name: string;
  readonly limits: Amounts;
  /** What the limits count, in their order. Default: `usualDimensions`. */
  readonly dimensions?: Dimensions | undefined;
  readonly windowMs: number;
  /** What may be used at once. Default: all of it. */
  readonly burst?: Amounts | undefined;
  /** Which of the limits is told to people, and to agents that know only one. Default: the first. */
  readonly main?: number | undefined;
  readonly rules: LevelRules;
}

/** What an agent asks for and may send once all who are before it have been served. */
export interface OwnClaim extends Place {
  /** What is left of it. */
  readonly amounts: number[];
  /** How fast it is used when there is a steady pace. */
  readonly perMs: Amounts;
  /** When it was first published, and in which message; Infinity before. */
  publishedAt: number;
  seq: number;
}

/** What is known of another agent's part in a pool. */
export interface PeerPool {
  /** Its last report, converted to the dimensions and window of our quota. */
  said: PoolReport;
  /** The last report as received, in the peer's own dimensions and window. */
  heard: PoolReport;
  /** What it claims; `setClaim` keeps the sums of all claims up to date. */
  claim: ClaimReport | undefined;
  reportedAt: number;
  /** It promised to say more within this. */
  nextMs: number;
  /** What is kept free for it once it is silent. */
  kept: Ends | undefined;
}

/** What an agent knows about a pool. */
export interface Pool {
  config: PoolConfig;
  /** The smallest that any live agent has configured. */
  limits: number[];
  /** What all have used, and what this agent has. */
  readonly used: UseWindow;
  readonly own: UseWindow;
  /** Of what all have used, what nobody who is there has said to be his: leavers', or seen in an answer. */
  readonly unnamed: UseWindow;
  /** What answers have shown of late to be used by nobody we know of. */
  elsewhere: Elsewhere[];
  readonly pace: Pace;
  /** Until then what this agent has sent is spread. */
  spreadUntil: number;
  /** In this life: all that was used, and all of it that was given back. */
  readonly sent: number[];
  readonly back: number[];
  /** How old the calls were that settled recently. */
  refundAges: RefundAges;
  /** When each dimension started to be counted. Calls sent earlier cannot be refunded in that dimension. */
  readonly countedSince: number[];
  /** What this agent has used without a claim and others may not know of yet; the part that no report has said. */
  readonly blind: number[];
  unsaid: number[];
  level: Level;
  levelKnownAt: number;
  /** An epoch too far ahead to accept from one message, and when it was first received. */
  farAhead: { readonly epoch: number; readonly since: number } | undefined;
  readonly turns: Turns;
  claim: OwnClaim | undefined;
  claimCount: number;
  /** The others who claim something, and the sum of their claims. */
  readonly claimants: Set<PeerPool>;
  readonly claimed: number[];
  /** The sum of those before this agent's own claim, once it is asked for. */
  before: number[] | undefined;
  /** Whose claim comes first, once it is asked for. */
  first: PeerPool | undefined;
  /** Kept free for agents that are silent and may be using it. */
  reserved: number[];
  /** How large calls are, about. */
  readonly grain: number[];
  /** Somebody has waited for long, as far as we know until then. */
  contendedUntil: number;
  next: Amounts | undefined;
  all: Amounts;
  /** Nobody waits for that: it was asked for without waiting and denied. */
  isTried: boolean;
  /** As others know them. */
  saidLimits: Amounts;
  /** What it waits for, as far as all have heard it on the bus. */
  heardWaiting: Amounts;
  /** What it stands in the store's line for. */
  askedFor: Amounts;
  waitingSince: number;
  /** When it is to be reported, how often after that, and the reports that are not known to all yet. */
  reportAt: number;
  repeats: number;
  reportedAt: number;
  readonly reports: Report[];
  /** When this agent configured the quota. Reports from before that are those that it remembered. */
  readonly configuredAt: number;
  /** When something last changed that others should know. */
  changedAt: number;
  /** A newcomer is there who must learn what was used before it came. */
  welcomeUntil: number;
  /** Until then it knows of some of what was used only about when that was. */
  hearsayUntil: number;
  /** Until then somebody is there who has not been for a window. */
  newcomersUntil: number;
  /** What others told this agent when it was new. */
  seen: { readonly at: number; readonly bins: readonly Amounts[] } | undefined;
  /** The last agreement, once this agent is cut off. */
  kept: Kept | undefined;
  /** What the store has told, in store mode; and when something was last sent. */
  allotment: Allotment | undefined;
  sentAt: number;
  /** When it last sent a call larger than what it keeps. */
  savedSince: number;
}

/** Totals of one dimension. */
export interface Counts {
  readonly sent: number;
  readonly back: number;
}

/** A report: what was used blindly before it and after the one before, and what waited then. */
interface Report {
  readonly seq: number;
  readonly at: number;
  readonly blind: Amounts;
  readonly waiting: Amounts;
}

/** What an agent that is cut off may go on using: from what it used when that happened to its fair share. */
export interface Ends {
  readonly from: Amounts;
  readonly to: Amounts;
}

export interface Kept extends Ends {
  readonly since: number;
  /** Or only what it was told at its start. */
  readonly isAgreed: boolean;
}

export function newPool(config: PoolConfig, now = -Infinity): Pool {
  const { length } = config.limits;
  return {
    config,
    limits: [...config.limits],
    used: new UseWindow(length, config.windowMs),
    own: new UseWindow(length, config.windowMs),
    unnamed: new UseWindow(length, config.windowMs),
    elsewhere: [],
    pace: new Pace(length, config.windowMs),
    spreadUntil: -Infinity,
    sent: zeros(length),
    back: zeros(length),
    refundAges: new RefundAges(),
    countedSince: zeros(length).fill(-Infinity),
    blind: zeros(length),
    unsaid: zeros(length),
    level: FULL,
    levelKnownAt: -Infinity,
    farAhead: undefined,
    turns: { own: 0, line: 0 },
    claim: undefined,
    claimCount: 0,
    claimants: new Set(),
    claimed: zeros(length),
    before: undefined,
    first: undefined,
    reserved: zeros(length),
    grain: zeros(length),
    contendedUntil: -Infinity,
    next: undefined,
    all: zeros(length),
    isTried: false,
    saidLimits: config.limits,
    heardWaiting: zeros(length),
    askedFor: zeros(length),
    waitingSince: Infinity,
    reportAt: Infinity,
    repeats: 0,
    reportedAt: -Infinity,
    reports: [],
    configuredAt: now,
    changedAt: -Infinity,
    welcomeUntil: -Infinity,
    hearsayUntil: -Infinity,
    newcomersUntil: -Infinity,
    seen: undefined,
    kept: undefined,
    allotment: undefined,
    sentAt: -Infinity,
    savedSince: -Infinity,
  };
}
