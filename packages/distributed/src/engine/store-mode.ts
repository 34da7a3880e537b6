import { LEARN_HEARTBEATS } from "@hivepace/core";
import type { Agent } from "./agent.ts";
import type { Quota } from "./quota.ts";

/** Condition under which agents get their capacity from a store: always, or in swarms of more than `above` agents. */
export interface StoreConfig {
  readonly aggregation: "store" | "auto";
  /** `auto` changes to the store above this number of members, and back to the bus below the other. */
  readonly above: number;
  readonly below: number;
}

/** An agent's state of its store. At most one request is under way. */
export interface StoreSide {
  readonly config: StoreConfig;
  /** True in store mode: the store grants capacity, and agents broadcast only urgent messages. */
  isStore: boolean;
  seq: number;
  /** Sequence number of the request without a reply, 0 for none; and the quotas of that request. */
  underWay: number;
  asked: readonly Quota[];
  /** The quotas whose journals the request contains as well. */
  journalled: readonly Quota[];
  askedAt: number;
  /** Time of the next request that cannot wait for the next heartbeat. */
  askAt: number;
  nextMs: number;
  answeredAt: number;
  /** Time of the first request without a reply; Infinity while there is none. */
  unansweredSince: number;
  /** Stamp of the latest roll-call, with which `auto` counts the members. */
  rollStamp: number;
  /** End of the change to the store, during which agents use both bus and store. */
  movingUntil: number;
  /** End of the change back to the bus, during which agents keep to their isolation budgets. */
  returnsAt: number;
  /** Time at which a peer on the bus last reported to be in store mode. */
  peersInStoreAt: number;
  /** Time at which this agent last informed a peer on the bus that others are in store mode. */
  spokeAt: number;
}

/** A reply is valid for this multiple of the announced time until the next request. */
const LAPSE = 3.5;
/**
 * The longest time for which a store that has lost its memory grants nothing: this many heartbeats, and as many idle
 * heartbeats as the second constant says, because agents without calls report only then.
 */
const LONGEST_LEARNING = 3 * LEARN_HEARTBEATS;
const IDLE_HEARTBEATS = 2;
/** Heartbeats for which a peer's report to be in store mode is believed. */
const PEERS_IN_STORE = 30;

export function newStoreSide(config: StoreConfig): StoreSide {
  return {
    config,
    isStore: config.aggregation === "store",
    seq: 0,
    underWay: 0,
    asked: [],
    journalled: [],
    askedAt: -Infinity,
    askAt: -Infinity,
    nextMs: 0,
    answeredAt: -Infinity,
    unansweredSince: Infinity,
    rollStamp: 0,
    movingUntil: -Infinity,
    returnsAt: -Infinity,
    peersInStoreAt: -Infinity,
    spokeAt: -Infinity,
  };
}

/** True in store mode once the change to it is over: the agent broadcasts only urgent messages. */
export function isQuiet({ store }: Agent, now: number): boolean {
  return store?.isStore === true && now >= store.movingUntil;
}

/**
 * The mode that the store determines for a quota, or for the agent without one; undefined where the bus decides.
 * `allocated`: the store grants capacity. `isolated`: the store is out of reach, and the last agreement holds.
 */
export function storeMode(
  agent: Agent,
  quota: Quota | undefined,
  now: number,
): "joining" | "isolated" | "allocated" | undefined {
  const { store } = agent;
  if (!store) return undefined;
  const { heartbeatMs, idleHeartbeatMs, isolatedAfterHeartbeats } = agent.config.tuning;
  const longestMs = isolatedAfterHeartbeats * heartbeatMs;
  if (!store.isStore) {
    const isLeftBehind =
      now - store.peersInStoreAt < PEERS_IN_STORE * heartbeatMs && now - store.answeredAt > longestMs;
    return isLeftBehind || now < store.returnsAt ? "isolated" : undefined;
  }
  if (now - store.unansweredSince > longestMs) return "isolated";
  if (!quota) return store.answeredAt === -Infinity ? "joining" : "allocated";
  const { grant } = quota.allocation;
  if (quota.isolation.budget && (!grant || grant.isLearning)) return "isolated";
  // A store that never learns enough, for instance for lack of a permission, counts as unreachable.
  const askedSince = Math.max(agent.startedAt, quota.history.configuredAt);
  const learningMs = LONGEST_LEARNING * heartbeatMs + IDLE_HEARTBEATS * idleHeartbeatMs;
  if (!grant?.isAgreed) return now - askedSince > learningMs ? "isolated" : "joining";
  if (grant.isLearning) return "isolated";
  // The store may have granted the capacity of a suspended process to others.
  return now - store.answeredAt > LAPSE * store.nextMs ? "joining" : "allocated";
}

/** Duration of a change between bus and store, after which all agents know of the change. */
export function movingMs({ config }: Agent): number {
  return LEARN_HEARTBEATS * config.tuning.heartbeatMs;
}
