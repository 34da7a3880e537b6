import type { Counts, PeerPool, Pool } from "./pool.ts";
import type { Remembered } from "./remembered.ts";
import type { Isolation } from "./silence.ts";
import { newStoreSide, type StoreConfig, type StoreSide, storeMode } from "./store-side.ts";
import type { Tuning } from "./tuning.ts";

export interface AgentConfig {
  readonly id: string;
  /** Which life of this agent: a later one has a higher number. */
  readonly life: number;
  readonly weight: number;
  readonly isolation: Isolation;
  /** How many agents there are, for one that has never heard any. */
  readonly expectedAgents: number | undefined;
  /** Without a bus it is alone and has all. */
  readonly hasBus: boolean;
  /** Messages are signed, so that peers may cause long pauses. */
  readonly isSigned?: boolean | undefined;
  /** The bus lets it hear itself. */
  readonly echoes: boolean;
  /** Without one, only the bus says who may use how much. */
  readonly store?: StoreConfig | undefined;
  readonly tuning: Tuning;
}

/** What another agent has last said. */
export interface Peer {
  readonly key: string;
  readonly id: string;
  readonly life: number;
  seq: number;
  readonly firstHeardAt: number;
  heardAt: number;
  /** It promised to be heard again within this. */
  nextMs: number;
  weight: number;
  state: "live" | "silent" | "left";
  saidBye: boolean;
  /** When we learned that it had ended at a time when we could hear nobody. */
  endedAt: number;
  readonly pools: Map<string, PeerPool>;
  /** Its last reports on quotas that this agent does not have, by name. */
  readonly remembered: Map<string, Remembered>;
}

/** All that an agent knows. Only `step` and what it calls change it. */
export interface Agent {
  readonly config: AgentConfig;
  readonly pools: Map<string, Pool>;
  readonly peers: Map<string, Peer>;
  /** The last life of each, by its id. */
  readonly newest: Map<string, Peer>;
  /** It only listens until it has been there for a while from here on. */
  joinedAt: number;
  startedAt: number;
  seq: number;
  /** Its newest message that has come back to it. */
  echoedSeq: number;
  /** When it last heard anyone, itself included; the first message after that, while there is no answer. */
  heardAt: number;
  unansweredSince: number;
  unechoedSince: number;
  publishedAt: number;
  /** It said then that it would be heard again within this. */
  promisedMs: number;
  steppedAt: number;
  sweptAt: number;
  left: boolean;
  /** Live agents, this one included, and the sum of their weights. */
  members: number;
  weights: number;
  /** The most members that any other has seen of late: a newcomer has not heard all yet. */
  toldMembers: number;
  toldUntil: number;
  /** When another process was last heard that goes by the same id. */
  twinAt: number;
  readonly ignored: Map<string, number>;
  /** Number of entries in `remembered` of all peers. */
  rememberedReports: number;
  /** Names of quotas that are no longer used here and whose usage is still in the window. */
  readonly removed: Set<string>;
  /** Lifetime totals of removed quotas and dimensions, by quota name. Peers know these totals, so they never decrease. */
  readonly counted: Map<string, Map<string, Counts>>;
  readonly store: StoreSide | undefined;
}

export function newAgent(config: AgentConfig, now: number): Agent {
  return {
    config,
    pools: new Map(),
    peers: new Map(),
    newest: new Map(),
    joinedAt: now,
    startedAt: now,
    seq: 0,
    echoedSeq: 0,
    heardAt: -Infinity,
    unansweredSince: Infinity,
    unechoedSince: Infinity,
    publishedAt: -Infinity,
    promisedMs: Infinity,
    steppedAt: now,
    sweptAt: -Infinity,
    left: false,
    members: 1,
    weights: config.weight,
    toldMembers: 1,
    toldUntil: -Infinity,
    twinAt: -Infinity,
    ignored: new Map(),
    rememberedReports: 0,
    removed: new Set(),
    counted: new Map(),
    store: config.store && newStoreSide(config.store),
  };
}

/**
 * "listening": too new to send; "cut-off": it hears nobody; "alone": there is nobody; "served": a store hands out; else
 * "member".
 */
export type Mode = "listening" | "cut-off" | "alone" | "member" | "served";

export function modeOf(agent: Agent, now: number): Mode {
  return storeMode(agent, undefined, now) ?? busMode(agent, now);
}

/** In store mode each pool has its own. */
export function modeIn(agent: Agent, pool: Pool, now: number): Mode {
  return storeMode(agent, pool, now) ?? busMode(agent, now);
}

function busMode(agent: Agent, now: number): Mode {
  const { hasBus, echoes } = agent.config;
  if (!hasBus) return "alone";
  if (isCutOff(agent, now)) return "cut-off";
  // What was heard at its beginning does not show that the bus is still there.
  const hasHeard = agent.heardAt >= listenedAt(agent) - agent.config.tuning.heartbeatMs || !echoes;
  if (!hasHeard || now < listenedAt(agent)) return "listening";
  return agent.peers.size === 0 ? "alone" : "member";
}

/** Until then it only listens, at least. */
export function listenedAt({ joinedAt, config: { tuning } }: Agent): number {
  return joinedAt + tuning.listen * tuning.heartbeatMs;
}

function isCutOff(agent: Agent, now: number): boolean {
  const { echoes, tuning } = agent.config;
  if (!echoes && agent.peers.size === 0) return false;
  const { heartbeatMs } = tuning;
  if (now - agent.unansweredSince > tuning.deaf * heartbeatMs) return true;
  return echoes && now - agent.unechoedSince > tuning.unheard * heartbeatMs;
}

/** This agent's part of what is shared by weight. */
export function partOf(agent: Agent, now: number): number {
  const { weight } = agent.config;
  // Those whom only others have heard count as if they weighed as much as this one.
  const missing = now < agent.toldUntil ? Math.max(0, agent.toldMembers - agent.members) : 0;
  return weight / (agent.weights + missing * weight);
}

/** There are others, as far as it knows: what they learn too late needs room. */
export function isOneOfSeveral({ peers, members }: Agent): boolean {
  return peers.size > 0 || members > 1;
}

export function ignore(agent: Agent, why: string): void {
  agent.ignored.set(why, (agent.ignored.get(why) ?? 0) + 1);
}
