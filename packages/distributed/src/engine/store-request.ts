import type { AllocationRequest, QuotaRequest, ReportedLevel } from "@hivepace/core";
import { hash32 } from "../hash.ts";
import type { Agent } from "./agent.ts";
import { type Amounts, fits, isZero } from "./amounts.ts";
import { hasSameDimensions } from "./dimensions.ts";
import { demandOf, unspentOf } from "./grant.ts";
import type { Level } from "./level.ts";
import type { Quota, QuotaConfig } from "./quota.ts";
import { refresh } from "./refresh.ts";
import { refundedMsOf } from "./schedule.ts";
import { slotRequest } from "./slots.ts";
import { dueJournals, journalOf } from "./store-journal.ts";
import { storeMode } from "./store-mode.ts";

/** A request to the store, without the namespace, which an agent does not know. */
export type StoreRequest = Omit<AllocationRequest, "namespace">;

/** Name of the roll-call, with which `auto` counts members. It has no limits, so no quota can have its key. */
const ROLL_CALL = "all";

/** Time at which the next request is due. */
export function askAt({ store, config }: Agent): number {
  if (!store || store.underWay > 0) return Infinity;
  // A failed request is repeated sooner.
  const nextMs = store.unansweredSince === Infinity ? store.nextMs : config.tuning.heartbeatMs / 2;
  return Math.min(store.askAt, store.askedAt + nextMs);
}

/** The request that is due now, if any: one for all quotas. A goodbye is always due. */
export function ask(agent: Agent, now: number, bye = false): StoreRequest | undefined {
  const { store, config } = agent;
  if (!store || agent.hasLeft || (!bye && now < askAt(agent))) return undefined;
  const { id: agentId, incarnation, weight, tuning } = config;
  const quotas: QuotaRequest[] = [];
  const asked: Quota[] = [];
  let isIdle = store.isStore;
  if (store.isStore)
    for (const quota of agent.quotas.values()) {
      refresh(agent, quota, now);
      const request = quotaRequest(agent, quota, now);
      quotas.push(request);
      asked.push(quota);
      isIdle &&= isZero(request.all) && isZero(quota.usage.own.sum) && isZero(unspentOf(quota));
    }
  const journalled = store.isStore || bye ? [] : dueJournals(agent, now);
  for (const quota of journalled) quotas.push(journalRequest(agent, quota, now));
  if (store.config.aggregation === "auto") quotas.push(rollCall(agent));
  store.seq++;
  store.underWay = store.seq;
  store.asked = asked;
  store.journalled = journalled;
  store.askedAt = now;
  store.askAt = Infinity;
  // The store does not miss an agent without grants, usage and demand.
  store.nextMs = isIdle ? tuning.idleHeartbeatMs : tuning.heartbeatMs;
  if (store.unansweredSince === Infinity) store.unansweredSince = now;
  const { seq: sequence, nextMs } = store;
  return { agentId, life: incarnation, sequence, weight, heartbeatMs: tuning.heartbeatMs, nextMs, bye, quotas };
}

function quotaRequest(agent: Agent, quota: Quota, now: number): QuotaRequest {
  const { config, usage, backoff, allocation } = quota;
  const { next, all } = demandOf(agent, quota, now);
  allocation.requested = all;
  returnTooSmall(quota);
  const { grant } = allocation;
  const isAllocated = storeMode(agent, quota, now) === "allocated";
  return {
    ...usageFields(agent, quota, now),
    name: storeName(config),
    stamp: grant?.stamp ?? 0,
    // An isolated agent holds no grant.
    allowed: isAllocated && grant ? [...grant.allowed] : [...usage.spentTotal],
    next: [...next],
    all: [...all],
    level: backoff.level.epoch === 0 ? undefined : reportedLevel(backoff.level, now),
    crowd: undefined,
    ...slotRequest(quota, now),
  };
}

/** The fields of a request that report usage. */
function usageFields(agent: Agent, { config, usage }: Quota, now: number) {
  return {
    windowMs: config.windowMs,
    limits: config.limits,
    headroom: agent.config.tuning.safetyMargin,
    least: config.rules.levelMin,
    sent: [...usage.spentTotal],
    back: [...usage.refundedTotal],
    // JSON has no Infinity; an agent that has sent nothing reports 0.
    sentAgoMs: usage.sentAt === -Infinity ? 0 : Math.max(0, now - usage.sentAt),
    backAgoMs: usage.refundAges.oldestMs(now, refundedMsOf(agent)),
    bins: trimmed(usage.own.bins(now)),
  };
}

/** A report that only counts usage. Its name keeps it apart from the quota of agents in store mode. */
function journalRequest(agent: Agent, quota: Quota, now: number): QuotaRequest {
  refresh(agent, quota, now);
  const { config, usage, limits } = quota;
  const nothing = limits.map(() => 0);
  return {
    ...usageFields(agent, quota, now),
    name: `${storeName(config)} (journal)`,
    stamp: 0,
    allowed: [...usage.spentTotal],
    next: nothing,
    all: nothing,
    level: undefined,
    crowd: undefined,
    journal: journalOf(quota),
  };
}

/**
 * Returns a grant that is too small for the next waiting call. Agents that kept such grants could each hold a part of a small
 * limit and wait for the rest for ever.
 */
function returnTooSmall(quota: Quota): void {
  const { grant } = quota.allocation;
  const { next } = quota.demand;
  if (next && grant && !fits(next, unspentOf(quota))) grant.allowed = [...quota.usage.spentTotal];
}

/** The quota's key in the store. It includes unusual dimensions, because the store itself only knows their number. */
function storeName({ name, limits, dimensions }: QuotaConfig): string {
  const isUsual = !dimensions || hasSameDimensions({ limits }, { limits, dimensions });
  return isUsual ? name : `${name} (${dimensions.join(", ")})`;
}

function rollCall({ store, config }: Agent): QuotaRequest {
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

/** The bins without the empty ones at the end, and without negative amounts. */
function trimmed(bins: readonly Amounts[]): readonly Amounts[] {
  let { length } = bins;
  while (length > 0 && isZero(bins[length - 1] as Amounts)) length--;
  return bins.slice(0, length).map((bin) => bin.map((amount) => Math.max(0, amount)));
}

/** A level in the store's form. Any tie-break works as long as all agents use the same one. */
function reportedLevel(level: Level, now: number): ReportedLevel {
  const { cutAt, pausedAt, climb: _, ...rest } = level;
  const { origin, reason, recoveryFactor, recoveryIntervalMs, levelMax } = level;
  const tie = hash32(JSON.stringify([origin, reason, recoveryFactor, recoveryIntervalMs, levelMax]));
  return { ...rest, tie: tie.toString(16).padStart(8, "0"), cutAgoMs: now - cutAt, pausedAgoMs: now - pausedAt };
}
