import type { AdaptiveLimit } from "./adaptive-limit.ts";
import type { Amounts } from "./amounts.ts";
import type { AvailabilityReport } from "./availability/share.ts";
import type { Dimensions } from "./dimensions.ts";
import type { Level } from "./level.ts";
import type { Refund } from "./unreported-refunds.ts";

/** The longest interval until its next message that an agent may announce. */
export const LONGEST_NEXT_MS = 3_600_000;

/** A text that only the sender knew before this message. */
export interface ChainLink {
  /** Number of the segment, and of the message within it. */
  readonly part: number;
  readonly n: number;
  /** A text of 22 characters. Its hash is the link of the message before. */
  readonly link: string;
  /** Start of the next segment, near the end of a segment. */
  readonly next?: string | undefined;
}

/**
 * A message of an agent to all others. Each report holds the agent's whole state for one quota, so a message replaces
 * all earlier ones, and the next message repairs a lost one.
 */
export interface Message {
  readonly id: string;
  /** Number of the sender's incarnation; a restarted agent has a higher one. */
  readonly incarnation: number;
  /** Counts the messages of this incarnation, from 1. */
  readonly seq: number;
  /** Age of the incarnation. */
  readonly upMs: number;
  /** Time within which the next message follows. */
  readonly nextMs: number;
  readonly weight: number;
  /** Number of agents that the sender knows, itself included. */
  readonly members: number;
  /** The sender leaves; this is its last message. */
  readonly bye: boolean;
  /** The goodbye carries no proof of its sender, so any process may have sent it. */
  readonly isUnproven?: true | undefined;
  /** Commitment to the sender's goodbye; in the goodbye itself, the secret that it was made from. */
  readonly leave?: string | undefined;
  /** Without signatures: links this message to the one before it. */
  readonly chain?: ChainLink | undefined;
  /** The sender is in store mode, so its usage is not on the bus. */
  readonly store?: boolean | undefined;
  /** The sender delays no call, so its usage goes on whatever is available. */
  readonly observes?: true | undefined;
  /** Time within which the sender's messages come back to it, when that is long. */
  readonly echoMs?: number | undefined;
  /** Reports on the quotas whose state peers need. */
  readonly quotas: readonly QuotaReport[];
  /** Endpoints that are closed, or whose state has changed recently. */
  readonly availability?: readonly AvailabilityReport[] | undefined;
}

/** The state of one quota at one agent. */
export interface QuotaReport {
  readonly name: string;
  readonly windowMs: number;
  /** Names of the units that the limits count. `@defaultValue` requests, tokens, then positions */
  readonly dimensions?: Dimensions | undefined;
  /** Limits as configured at the sender. */
  readonly limits: Amounts;
  /** Lifetime totals of the sender's incarnation. */
  readonly spentTotal: Amounts;
  readonly refundedTotal: Amounts;
  /** Age of the oldest call that was refunded recently. */
  readonly refundAgeMs: number;
  /** Refunds since the previous report. Refunds that a receiver missed are placed by `refundAgeMs`. */
  readonly refunds?: readonly Refund[] | undefined;
  /** The sender's own usage in its last window: the sum, and in bins, youngest first. */
  readonly used: Amounts;
  readonly bins: readonly Amounts[];
  /** Cost of all waiting calls; with `tried`, cost of the latest denied `tryAcquire`. */
  readonly demand: Amounts;
  readonly tried?: boolean | undefined;
  readonly claim: ClaimReport | undefined;
  /** Virtual time of the swarm, as far as the sender knows. */
  readonly virtualTime: number;
  /** Backoff level, with ages instead of times; undefined if there never was a cut. */
  readonly level: Level | undefined;
  /** For newcomers: usage of the whole swarm as the sender knows it, in bins. */
  readonly joinSnapshot: readonly Amounts[] | undefined;
  /** For slots: age of the sender's oldest call, and the time within which its last call ends. */
  readonly heldMs?: number | undefined;
  readonly endsMs?: number | undefined;
  /** For slots whose number adapts: the number, with an age instead of a time. */
  readonly adaptive?: AdaptiveLimit | undefined;
  /** For newcomers: slots of departed agents, and the time within which their last known calls end. */
  readonly departed?: number | undefined;
  readonly departedMs?: number | undefined;
}

/** A claim as peers see it. */
export interface ClaimReport {
  readonly amounts: Amounts;
  /** Cost of the first waiting call. */
  readonly next: Amounts;
  readonly virtualTime: number;
  readonly tie: number;
  /** Time for which the first caller has been waiting. */
  readonly waitedMs: number;
}
