import { type Agenda, newAgenda } from "./agenda.ts";
import { type Availability, newAvailability } from "./availability/entries.ts";
import { type Delay, newDelay } from "./delay.ts";
import type { PeerQuota, Quota, Totals } from "./quota.ts";
import type { RememberedReport } from "./remembered-reports.ts";
import type { Isolation } from "./silence.ts";
import { newStoreSide, type StoreConfig, type StoreSide } from "./store-mode.ts";
import type { Tuning } from "./tuning.ts";

export interface AgentConfig {
  readonly id: string;
  /** Number of this incarnation; a restarted agent has a higher one. */
  readonly incarnation: number;
  /** Relative weight under contention. */
  readonly weight: number;
  readonly isolation: Isolation;
  /** Assumed number of agents until the first message of a peer. */
  readonly expectedAgents: number | undefined;
  /** False without a bus. Without a bus and a store, the agent may use the whole limit. */
  readonly hasBus: boolean;
  /** Messages are signed, so that peers may cause long pauses. */
  readonly isSigned?: boolean | undefined;
  /** The bus delivers an agent's own messages back to it. */
  readonly echoes: boolean;
  /** The agent sends every call at once, so its peers leave capacity free for it. */
  readonly observes?: boolean | undefined;
  /** Settings of the store; undefined when agents agree over the bus alone. */
  readonly store?: StoreConfig | undefined;
  readonly tuning: Tuning;
}

/** The complete state of an agent. Only `step`, and the functions that it calls, change the state. */
export interface Agent {
  readonly config: AgentConfig;
  readonly quotas: Map<string, Quota>;
  readonly agenda: Agenda;
  readonly membership: Membership;
  readonly link: Link;
  /** Start of the current join phase. Later than `startedAt` after an isolation or a suspension of the process. */
  joinedAt: number;
  /** Start of this incarnation, or of its latest return from the store to the bus. */
  startedAt: number;
  /** Time of the latest step. */
  steppedAt: number;
  hasLeft: boolean;
  /** Time of the latest message of another process with the same id. */
  duplicateSeenAt: number;
  /** Number of ignored messages and reports, by reason. */
  readonly ignored: Map<string, number>;
  /** Names of quotas that were removed and whose usage is still in the window. */
  readonly removed: Set<string>;
  /** Totals of quotas and dimensions that ended, by quota name. Peers know these totals, so they never decrease. */
  readonly savedTotals: Map<string, Map<string, Totals>>;
  readonly store: StoreSide | undefined;
  /** Overloaded, broken and parked endpoints. */
  readonly availability: Availability;
}

/** The peers of this agent, and the counts derived from them. */
interface Membership {
  /** Incarnations of other agents, by key. */
  readonly peers: Map<string, Peer>;
  /** The newest incarnation of each agent, by id. */
  readonly newest: Map<string, Peer>;
  /** True once a message of any other agent was received. */
  hasHeard: boolean;
  /** Number of live agents, this one included, and the sum of their weights. */
  members: number;
  weights: number;
  /**
   * Largest number of members that a peer has reported recently. A newcomer has not received messages of all of these
   * members yet.
   */
  reportedMembers: number;
  reportedMembersUntil: number;
  /** Number of remembered reports of all peers. */
  rememberedReports: number;
  /** Time of the latest search for silent peers. */
  sweptAt: number;
}

/** The messages that this agent has published and received, as far as isolation depends on them. */
interface Link {
  /** Sequence number of the latest message. */
  seq: number;
  /** Highest own sequence number that the bus has echoed. */
  echoedSeq: number;
  /** Time at which a message of any agent, this one included, was last received. */
  receivedAt: number;
  /** Time of the first message after which this agent received nothing; Infinity while there is no such message. */
  unansweredSince: number;
  /** Time of the first message that was not echoed; Infinity while there is no such message. */
  unechoedSince: number;
  publishedAt: number;
  /** Time of the latest message that was complete, as a heartbeat is. */
  heartbeatAt: number;
  /** The latest message announced the next one within this time. */
  promisedMs: number;
  /** Time of the latest message with a claim of a peer. */
  claimedAt: number;
  /** Mean fraction of the messages of peers that did not arrive, by the gaps in their sequence numbers. */
  lossRate: number;
  /** When this agent last answered a message that was too old. */
  answeredAt: number;
  readonly delay: Delay;
}

/** One incarnation of another agent. */
export interface Peer {
  readonly key: string;
  readonly id: string;
  readonly incarnation: number;
  seq: number;
  readonly firstReceivedAt: number;
  /** Age of the peer in the first message that was received. */
  readonly firstUpMs: number;
  /** The peer has taken the place of one that ended. Each peer does so once. */
  isSuccessor: boolean;
  receivedAt: number;
  /** Time of the first message after the last gap between messages. */
  continuousSince: number;
  /** The peer announced its next message within this time. */
  nextMs: number;
  weight: number;
  /** The peer sends every call at once, whatever is available. */
  observes: boolean;
  /** Time within which the peer's messages come back to it; 0 while that is short. */
  echoMs: number;
  state: "live" | "silent" | "left";
  /** Capacity is held free for this live peer, because its messages do not arrive. */
  isLate: boolean;
  /** The peer has proved that it leaves. */
  hasLeft: boolean;
  /**
   * Sequence number of the latest goodbye, 0 for none. A goodbye without proof is believed once the peer is silent
   * after it.
   */
  byeSeq: number;
  /** Latest message with an outdated sequence number, and the number of consecutive messages that continued it. */
  staleSeq: number;
  staleCount: number;
  /** Time at which this agent learned that the peer had ended during this agent's isolation. */
  endedAt: number;
  readonly quotas: Map<string, PeerQuota>;
  /** Latest reports on quotas that this agent does not have, by name. */
  readonly remembered: Map<string, RememberedReport>;
  /** Number of the peer's answers already counted as evidence of availability, by endpoint and model. */
  readonly answers: Map<string, number>;
}

/** Creates an agent without quotas. Quotas are added by `configure` events. */
export function newAgent(config: AgentConfig, now: number): Agent {
  return {
    config,
    quotas: new Map(),
    agenda: newAgenda(),
    membership: {
      peers: new Map(),
      newest: new Map(),
      hasHeard: false,
      members: 1,
      weights: config.weight,
      reportedMembers: 1,
      reportedMembersUntil: -Infinity,
      rememberedReports: 0,
      sweptAt: -Infinity,
    },
    link: {
      seq: 0,
      echoedSeq: 0,
      receivedAt: -Infinity,
      unansweredSince: Infinity,
      unechoedSince: Infinity,
      publishedAt: -Infinity,
      heartbeatAt: -Infinity,
      promisedMs: Infinity,
      claimedAt: -Infinity,
      lossRate: 0,
      answeredAt: -Infinity,
      delay: newDelay(),
    },
    joinedAt: now,
    startedAt: now,
    steppedAt: now,
    hasLeft: false,
    duplicateSeenAt: -Infinity,
    ignored: new Map(),
    removed: new Set(),
    savedTotals: new Map(),
    store: config.store && newStoreSide(config.store),
    availability: newAvailability(),
  };
}

/** End of the join phase, at the earliest. */
export function joiningUntil({ joinedAt, config: { tuning } }: Agent): number {
  return joinedAt + tuning.joinHeartbeats * tuning.heartbeatMs;
}

/** This agent's fraction, 0 to 1, of an amount that is divided by weight. */
export function shareByWeight({ config: { weight }, membership }: Agent, now: number): number {
  const { weights, members, reportedMembers, reportedMembersUntil } = membership;
  // Members that are known only from the reports of peers count with this agent's own weight.
  const unheard = now < reportedMembersUntil ? Math.max(0, reportedMembers - members) : 0;
  return weight / (weights + unheard * weight);
}

/** True when other agents are known. Their delayed reports require a safety margin. */
export function isOneOfSeveral({ membership: { peers, members } }: Agent): boolean {
  return peers.size > 0 || members > 1;
}

export function ignore({ ignored }: Agent, reason: string): void {
  ignored.set(reason, (ignored.get(reason) ?? 0) + 1);
}
