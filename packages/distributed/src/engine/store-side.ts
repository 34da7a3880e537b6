import { LEARN_HEARTBEATS } from "@hivepace/core";
import type { Agent, Mode } from "./agent.ts";
import type { Amounts } from "./amounts.ts";
import type { Pool } from "./pool.ts";

/** Who says how much an agent may use: always a store, or a store while there are more agents than this. */
export interface StoreConfig {
  readonly aggregation: "store" | "auto";
  /** From more members than `above` on the store, from fewer than `below` on the bus again. */
  readonly above: number;
  readonly below: number;
}

/** What an agent knows of its store. */
export interface StoreSide {
  readonly config: StoreConfig;
  /** In store mode: the store hands out what may be used, and nobody broadcasts. */
  isStore: boolean;
  seq: number;
  /** The call that has no answer yet, 0 when there is none; and the pools that it is about. */
  underWay: number;
  asked: readonly Pool[];
  askedAt: number;
  /** When something is to be asked that cannot wait for the next heartbeat. */
  askAt: number;
  nextMs: number;
  answeredAt: number;
  unansweredSince: number;
  rollStamp: number;
  /** Both ways of agreeing go on until then, after a change to the store or back to the bus. */
  movingUntil: number;
  returnsAt: number;
  /** When it was last heard on the bus that the others are in store mode. */
  elsewhereAt: number;
  spokeAt: number;
}

/** What the store has told of a pool. */
export interface Allotment {
  /** Up to where `sent` may grow. */
  allowed: number[];
  readonly fair: Amounts;
  readonly capacity: Amounts;
  readonly stamp: number;
  /** It does not know enough now, or it has another agent of this name. */
  readonly isLearning: boolean;
  /** It has known enough before. */
  readonly isAgreed: boolean;
}

/** An answer holds for so many of the promised times until the next one. */
const LAPSE = 3.5;
/** A store knows enough of a quota after this many heartbeats, also when it has just forgotten everything. */
const LONGEST_LEARNING = 3 * LEARN_HEARTBEATS;
/** For so many heartbeats one believes what was said on the bus of the others' mode. */
const ELSEWHERE = 30;

export function newStoreSide(config: StoreConfig): StoreSide {
  return {
    config,
    isStore: config.aggregation === "store",
    seq: 0,
    underWay: 0,
    asked: [],
    askedAt: -Infinity,
    askAt: -Infinity,
    nextMs: 0,
    answeredAt: -Infinity,
    unansweredSince: Infinity,
    rollStamp: 0,
    movingUntil: -Infinity,
    returnsAt: -Infinity,
    elsewhereAt: -Infinity,
    spokeAt: -Infinity,
  };
}

/** In store mode, once the change to it is over: what is said on the bus is only what all must hear at once. */
export function isQuiet({ store }: Agent, now: number): boolean {
  return store?.isStore === true && now >= store.movingUntil;
}

/** "served": the store hands out. "cut-off": nobody does now, and it goes on with what was agreed last. */
export function storeMode(agent: Agent, pool: Pool | undefined, now: number): Mode | undefined {
  const { store } = agent;
  if (!store) return undefined;
  const { heartbeatMs, deaf } = agent.config.tuning;
  const isReached = now - store.unansweredSince <= deaf * heartbeatMs;
  if (!store.isStore) {
    const isElsewhere =
      now - store.elsewhereAt < ELSEWHERE * heartbeatMs && now - store.answeredAt > deaf * heartbeatMs;
    return isElsewhere || now < store.returnsAt ? "cut-off" : undefined;
  }
  if (!isReached) return "cut-off";
  if (!pool) return store.answeredAt === -Infinity ? "listening" : "served";
  const { allotment } = pool;
  if (pool.kept && (!allotment || allotment.isLearning)) return "cut-off";
  // A store that never gets to know enough, for want of a right for instance, is as good as away.
  const askedSince = Math.max(agent.startedAt, pool.configuredAt);
  if (!allotment?.isAgreed) return now - askedSince > LONGEST_LEARNING * heartbeatMs ? "cut-off" : "listening";
  if (allotment.isLearning) return "cut-off";
  // A process that stood still holds what others may have by now.
  return now - store.answeredAt > LAPSE * store.nextMs ? "listening" : "served";
}

/** So long both ways of agreeing go on: all have heard of the change by then. */
export function movingMs({ config }: Agent): number {
  return LEARN_HEARTBEATS * config.tuning.heartbeatMs;
}
