/** What a message may change, by what it proves: one place for the bounds that decoder, engine and SECURITY.md share. */
export const TRUST = {
  /** Agents that are remembered at most. */
  mostPeers: { signed: 20_000, unsigned: 4_096 },
  /** Reports on unknown quotas that are remembered at most. */
  mostReports: 20_000,
  /** The longest pause of an unsigned message, unless a window is longer. */
  unsignedPauseMs: 60_000,
  /** The longest time for which an unsigned message can close an endpoint, unless a window is longer. */
  unsignedClosureMs: 60_000,
  /** Earlier closures that an unsigned message may report, each of which doubles the next wait. */
  unsignedClosures: { overloaded: 8, broken: 7, parked: 1, available: 1 },
  /** Age, in windows, that a learned sub-window of an unsigned message has at most. A longer stay outranks others. */
  unsignedSpreadWindows: 9,
  /** Sequence numbers by which an unsigned message may be ahead. */
  seqSlack: 100,
  /** Windows' worth of service by which unsigned messages may advance the virtual time at once. */
  mostAdvance: 3,
  /** Factor by which a recovery may be slower than the receiver's own. */
  slowestRecovery: 10,
  /** Limits that one message may report as used or refunded. */
  mostLimits: 1e6,
} as const;

const { mostPeers, mostReports, seqSlack, mostAdvance, slowestRecovery } = TRUST;
const shown = (value: number) => value.toLocaleString("en-US");

/** One row: what is changed, by which fields, and how far an unsigned message and a fresh signed one may change it. */
export interface TrustRule {
  readonly what: string;
  /** Names of fields as they are on the wire. A group of fields has the name of the group. */
  readonly fields: readonly string[];
  readonly unsigned: string;
  readonly signed: string;
}

/**
 * Every field that a message may have, in the row of what it changes. A signed message that is too old changes nothing in
 * any row, so the rows have no column for it.
 */
export const TRUST_RULES: readonly TrustRule[] = [
  {
    what: "configured limits, resources",
    fields: ["resource", "window_ms", "dimensions"],
    unsigned: "never raised, never created",
    signed: "never raised, never created",
  },
  {
    what: "limit of a window",
    fields: ["limits"],
    unsigned: "lowered to `minCapacity` at least, for about a window per message",
    signed: "lowered to `minCapacity` at least, while the sender is live",
  },
  {
    what: "level",
    fields: ["level", "new_capacity"],
    unsigned: "lowered to `minCapacity` at least; recovers as configured; never raised",
    signed: `lowered and raised, within the receiver's own options; recovers at most ${slowestRecovery} times slower`,
  },
  {
    what: "pause",
    fields: ["pause_ms", "pause_age_ms"],
    unsigned: "a minute or one window",
    signed: "a day, from an agent that has been speaking for a window; before that one window from now",
  },
  {
    what: "shorter windows",
    fields: ["spread"],
    unsigned: "calls are spread over a second or longer, for one window per message",
    signed:
      "calls are spread over a second or longer, for a day, or one window until the sender has been speaking for one",
  },
  {
    what: "usage",
    fields: ["sent", "used", "bins", "seen", "seen_bins", "held_ms", "ends_ms", "departed", "departed_ms"],
    unsigned: "raised",
    signed: "raised",
  },
  {
    what: "refunds",
    fields: ["back", "back_age_ms", "backs"],
    unsigned: "only of usage that the sender itself has reported since the time of the refund",
    signed: "any",
  },
  {
    what: "claims, demand, observing",
    fields: ["claim", "waiting", "tried", "observes"],
    unsigned: "up to the limit, for about a window per message",
    signed: "up to the limit, while the sender is live",
  },
  {
    what: "delay",
    fields: ["echo_ms"],
    unsigned: "agents wait for each other for a twelfth of a window at most",
    signed: "agents wait for each other for a twelfth of a window at most",
  },
  {
    what: "virtual time",
    fields: ["turn"],
    unsigned: `${mostAdvance} windows of service ahead at most`,
    signed: "any",
  },
  {
    what: "number of slots that adapts",
    fields: ["adaptive"],
    unsigned: "any, up to the configured number",
    signed: "any, up to the configured number",
  },
  {
    what: "availability",
    fields: ["availability", "park"],
    unsigned:
      "endpoints and models closed for a minute or one window per message; opened: one call of each agent finds out again; probes held back for 30 s",
    signed: "closed for up to a month; opened",
  },
  {
    what: "membership",
    fields: ["bye", "leave", "weight", "members", "up_ms", "next_ms", "store"],
    unsigned:
      "agents invented; a goodbye without proof counts once the agent is silent, whose part a newcomer takes over",
    signed: "a goodbye counts at once; a newcomer takes over the part of a silent agent",
  },
  {
    what: "messages of another agent",
    fields: ["agent_id", "life", "seq", "chunk", "chunks", "chain"],
    unsigned: `counted as those of one more agent, unless they continue its \`chain\`; \`seq\` ${seqSlack} ahead at most`,
    signed: "any",
  },
  {
    what: "memory",
    fields: [],
    unsigned: `${shown(mostPeers.unsigned)} agents and ${shown(mostReports)} reports; strangers go first`,
    signed: `${shown(mostPeers.signed)} agents and ${shown(mostReports)} reports`,
  },
];
