import type { ShareLevel, SharePool, ShareReport } from "@hivepace/core";
import { hash32 } from "../hash.ts";
import type { Agent } from "./agent.ts";
import { leftOf, wantedOf } from "./allotment.ts";
import { type Amounts, fits, isZero } from "./amounts.ts";
import { hasSameDimensions } from "./dimensions.ts";
import type { Level } from "./level.ts";
import type { Pool, PoolConfig } from "./pool.ts";
import { refundedMsOf } from "./schedule.ts";
import { storeMode } from "./store-side.ts";

/** A call of the store, but for the namespace, which an agent does not know. */
export type Ask = Omit<ShareReport, "namespace">;

/** Names that no limit has: a roll-call has no limits at all. */
const ROLL_CALL = "all";

/** When the store is to be called next. */
export function askAt({ store, config }: Agent): number {
  if (!store || store.underWay > 0) return Infinity;
  // After a call that failed, sooner.
  const nextMs = store.unansweredSince === Infinity ? store.nextMs : config.tuning.heartbeatMs / 2;
  return Math.min(store.askAt, store.askedAt + nextMs);
}

/** The call that is due now, if one is: for all pools at once. */
export function ask(agent: Agent, now: number, bye = false): Ask | undefined {
  const { store, config } = agent;
  if (!store || agent.left || (!bye && now < askAt(agent))) return undefined;
  const { id: agentId, life, weight, tuning } = config;
  const pools: SharePool[] = [];
  const asked: Pool[] = [];
  let isIdle = store.isStore;
  if (store.isStore)
    for (const pool of agent.pools.values()) {
      const said = poolOf(agent, pool, now);
      pools.push(said);
      asked.push(pool);
      isIdle &&= isZero(said.all) && isZero(pool.own.sum) && isZero(leftOf(pool));
    }
  if (store.config.aggregation === "auto") pools.push(rollCall(agent));
  store.seq++;
  store.underWay = store.seq;
  store.asked = asked;
  store.askedAt = now;
  store.askAt = Infinity;
  // One that has nothing, used nothing and wants nothing is not missed.
  store.nextMs = isIdle ? tuning.idleHeartbeatMs : tuning.heartbeatMs;
  if (store.unansweredSince === Infinity) store.unansweredSince = now;
  const { seq: sequence, nextMs } = store;
  return { agentId, life, sequence, weight, heartbeatMs: tuning.heartbeatMs, nextMs, bye, pools };
}

function poolOf(agent: Agent, pool: Pool, now: number): SharePool {
  const { config, sent, back, allotment } = pool;
  const { headroom } = agent.config.tuning;
  const { next, all } = wantedOf(agent, pool, now);
  pool.askedFor = all;
  returnTooLittle(pool);
  const isServed = storeMode(agent, pool, now) === "served";
  return {
    name: storeName(config),
    windowMs: config.windowMs,
    limits: config.limits,
    headroom,
    least: config.rules.least,
    stamp: allotment?.stamp ?? 0,
    sent: [...sent],
    back: [...back],
    // Whoever has sent nothing yet has nothing to say here: no infinity may travel.
    sentAgoMs: pool.sentAt === -Infinity ? 0 : Math.max(0, now - pool.sentAt),
    backAgoMs: pool.refundAges.oldestMs(now, refundedMsOf(agent)),
    // Whoever goes on by itself has nothing in hand.
    allowed: isServed && allotment ? [...allotment.allowed] : [...sent],
    bins: trimmed(pool.own.bins(now)),
    next: [...next],
    all: [...all],
    level: pool.level.epoch === 0 ? undefined : shareLevel(pool.level, now),
    crowd: undefined,
  };
}

/**
 * Returns a grant that is too small for the next waiting call. Agents that kept such grants could each hold a part of a small
 * limit and wait for the rest for ever.
 */
function returnTooLittle(pool: Pool): void {
  const { next, allotment, sent } = pool;
  if (next && allotment && !fits(next, leftOf(pool))) allotment.allowed = [...sent];
}

/** The quota's key in the store. It includes unusual dimensions, because the store itself only knows their number. */
function storeName({ name, limits, dimensions }: PoolConfig): string {
  const isUsual = !dimensions || hasSameDimensions({ limits }, { limits, dimensions });
  return isUsual ? name : `${name} (${dimensions.join(", ")})`;
}

function rollCall({ store, config }: Agent): SharePool {
  const nothing = { sent: [], back: [], allowed: [], bins: [], next: [], all: [], sentAgoMs: 0, backAgoMs: 0 };
  const windowMs = 60 * config.tuning.heartbeatMs;
  const { above = 0, below = 0 } = store?.config ?? {};
  return {
    name: ROLL_CALL,
    windowMs,
    limits: [],
    headroom: 0,
    least: 0,
    stamp: store?.rollStamp ?? 0,
    ...nothing,
    level: undefined,
    crowd: { isStore: store?.isStore ?? false, above, below },
  };
}

function trimmed(bins: readonly Amounts[]): readonly Amounts[] {
  let { length } = bins;
  while (length > 0 && isZero(bins[length - 1] as Amounts)) length--;
  return bins.slice(0, length).map((bin) => bin.map((amount) => Math.max(0, amount)));
}

/** A level as a store keeps it. Whoever is decided between by a tie is of no matter, as long as all decide alike. */
function shareLevel(level: Level, now: number): ShareLevel {
  const { cutAt, pausedAt, ...rest } = level;
  const { origin, reason, recoveryFactor, recoveryIntervalMs, most } = level;
  const tie = hash32(JSON.stringify([origin, reason, recoveryFactor, recoveryIntervalMs, most]));
  return { ...rest, tie: tie.toString(16).padStart(8, "0"), cutAgoMs: now - cutAt, pausedAgoMs: now - pausedAt };
}
