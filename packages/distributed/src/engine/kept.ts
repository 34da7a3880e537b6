import { hash32 } from "../hash.ts";
import type { Agent } from "./agent.ts";
import { agreement } from "./agreement.ts";
import { leftOf } from "./allotment.ts";
import { type Amounts, addTo, at, fits, isZero, minus, scaled, sizeOf, zeros } from "./amounts.ts";
import type { ClaimReport } from "./message.ts";
import type { Ends, Kept, Pool } from "./pool.ts";
import { CAUTION, keptPart } from "./silence.ts";

/** Calls of a cost c that each rounds by up to one vary by c √(N / 12): with N = limit / kept, that is 0.7 % of the limit here. */
const EVEN = 1_700;

/** Between the two ends of what is kept, so long after the silence began. */
export function keptAfter({ from, to }: Ends, silentMs: number, windowMs: number): number[] {
  const way = Math.min(1, Math.max(0, silentMs / windowMs));
  return from.map((amount, i) => amount + (at(to, i) - amount) * way);
}

/**
 * Cut off: this agent's own window must stay within what it keeps. A call that is larger than all that is kept would
 * never go: it is saved up for, and goes alone. Undefined when the call may not be sent.
 */
export function keptWay(agent: Agent, pool: Pool, cost: Amounts, now: number): "kept" | "saved-up" | undefined {
  const most = rounded(agent, pool, mostKept(agent, pool, now), cost);
  if (fits(cost, minus(most, pool.own.sum))) return "kept";
  // Nobody saves up for a call that no window of the whole limit holds.
  if (!fits(cost, pool.limits)) return undefined;
  return now >= savedAt(agent, pool, cost, most) && isZero(pool.own.sum) ? "saved-up" : undefined;
}

/** When that could be, if nothing changes. */
export function keptAt(agent: Agent, pool: Pool, cost: Amounts, now: number): number {
  const most = rounded(agent, pool, mostKept(agent, pool, now), cost);
  const isTooLarge = !fits(cost, most);
  const goneAt = pool.own.whenGone(minus(pool.own.sum, isTooLarge ? scaled(cost, 0) : minus(most, cost)));
  return Math.max(now, goneAt, isTooLarge ? savedAt(agent, pool, cost, most) : now);
}

/**
 * What is kept is rarely a whole number of calls: some round it up and some down, each by its name, so that together they
 * use it. Not where calls are so large, or agents so few, that this would not even out.
 */
function rounded({ config }: Agent, { limits }: Pool, most: Amounts, cost: Amounts): Amounts {
  const isEven = cost.every((amount, i) => amount ** 2 <= (at(limits, i) * at(most, i)) / EVEN);
  if (!isEven) return most;
  const part = hash32(config.id) / 2 ** 32;
  return most.map((amount, i) => amount + part * at(cost, i));
}

/** When what is kept in each window adds up to a call of this cost. */
function savedAt(
  { config }: Agent,
  { kept, savedSince, config: { windowMs } }: Pool,
  cost: Amounts,
  most: Amounts,
): number {
  const size = sizeOf(cost, most);
  if (config.isolation === "safe" || !Number.isFinite(size)) return Infinity;
  // Where a window holds less than a call for each, all would save up for the same moment.
  const spread = config.store && savedSince === -Infinity ? 1 + hash32(config.id) / 2 ** 32 : 1;
  return Math.max(kept?.since ?? 0, savedSince) + windowMs * size * spread;
}

/** Cut off: what this agent may have used in its last window. */
export function mostKept(agent: Agent, pool: Pool, now: number): number[] {
  const kept = pool.kept ?? keep(agent, pool, now);
  pool.own.expire(now);
  const silentMs = now - kept.since;
  const { windowMs } = pool.config;
  if (!kept.isAgreed) return [...kept.from];
  const part = keptPart(agent.config.isolation, silentMs, windowMs) * CAUTION;
  return scaled(keptAfter(kept, silentMs, windowMs), part);
}

/**
 * What it keeps and has not used yet, as a claim before all others: it may be heard though it hears nobody. What leaves
 * its window before it speaks again is part of that.
 */
export function claimOfKept(agent: Agent, pool: Pool, now: number): ClaimReport {
  const left = minus(mostKept(agent, pool, now), pool.own.sum);
  addTo(left, pool.own.goneBy(now + 2 * agent.config.tuning.heartbeatMs));
  return {
    amounts: left.map((amount) => Math.max(0, amount)),
    next: pool.next ?? zeros(left.length),
    turn: 0,
    tie: hash32(agent.config.id),
    waitedMs: Math.max(0, now - pool.waitingSince),
  };
}

/** Remembers the last agreement. The others have missed this agent since its first message that did not come back. */
export function keep(agent: Agent, pool: Pool, now: number): Kept {
  const { store } = agent;
  if (store?.isStore) return keepAllotted(agent, pool, Math.min(now, store.unansweredSince));
  if (store && store.elsewhereAt > store.answeredAt) return keepPart(agent, pool, now);
  const since = Math.min(now, agent.unansweredSince, agent.unechoedSince);
  // Who has not even listened to the end does not know who is there.
  const { listen, heartbeatMs } = agent.config.tuning;
  const isAgreed = agent.heardAt !== -Infinity && since >= agent.startedAt + listen * heartbeatMs;
  const ends = isAgreed ? (agreement(agent, pool, now, since).get(undefined) as Ends) : unheard(agent, pool);
  pool.kept = { since, isAgreed, ...ends };
  return pool.kept;
}

/** The store is away: what it used and was handed, and a window later the fair share that it was told last. */
function keepAllotted(agent: Agent, pool: Pool, since: number): Kept {
  const { allotment, own } = pool;
  const isAgreed = allotment?.isAgreed === true;
  const left = leftOf(pool);
  const ends = isAgreed
    ? { from: own.sum.map((amount, i) => amount + at(left, i)), to: allotment.fair }
    : unheard(agent, pool);
  pool.kept = { since, isAgreed, ...ends };
  return pool.kept;
}

/**
 * All others are in store mode and it cannot reach the store: they said how many they are. Nobody keeps anything free for
 * one that the store does not know, so that it has what is left after a long silence.
 */
function keepPart(agent: Agent, pool: Pool, now: number): Kept {
  const part = scaled(pool.limits, 1 / Math.max(agent.toldMembers, agent.members));
  pool.kept = { since: now - 2 * pool.config.windowMs - 60_000, isAgreed: true, from: part, to: part };
  return pool.kept;
}

/** The share of an agent that has never heard a peer or the store: an equal part of the limit, or the minimum. */
function unheard(agent: Agent, { limits, config }: Pool): Ends {
  const { expectedAgents } = agent.config;
  const part = limits.map((limit) => (expectedAgents ? limit / expectedAgents : limit * config.rules.least));
  return { from: part, to: part };
}
