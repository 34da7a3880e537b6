import { hash32 } from "../hash.ts";
import type { Agent } from "./agent.ts";
import { agreement } from "./agreement.ts";
import { type Amounts, addTo, at, fits, minus, SLACK, scaled, sizeOf, zeros } from "./amounts.ts";
import { UNLIMITED } from "./dimensions.ts";
import { unspentOf } from "./grant.ts";
import type { ClaimReport } from "./message.ts";
import type { BudgetRange, IsolationBudget, Quota } from "./quota.ts";
import { budgetFraction, CAUTION } from "./silence.ts";

/**
 * Lower bound of limit × budget / cost² for rounding by agent id. N agents that each round calls of cost c by up to one
 * vary by c √(N / 12). With N = limit / budget, this bound keeps the variation below 0.7 % of the limit.
 */
const EVEN = 1_700;

/** The budget after a silence: linear from `from` to `to` over one window. */
export function budgetAfter({ from, to }: BudgetRange, silentMs: number, windowMs: number): number[] {
  const progress = Math.min(1, Math.max(0, silentMs / windowMs));
  return from.map((amount, i) => amount + (at(to, i) - amount) * progress);
}

/** Usage that this isolated agent may have in its last window. */
export function isolationLimit(agent: Agent, quota: Quota, now: number): number[] {
  const budget = budgetOf(agent, quota, now);
  quota.usage.own.expire(now);
  const silentMs = now - budget.since;
  const { windowMs } = quota.config;
  if (!budget.isAgreed) return [...budget.from];
  const { isolation } = agent.config;
  if (quota.slots) {
    // Rounded up to whole slots, as peers do for the slots that they hold free for this agent.
    return budgetAfter(budget, silentMs, windowMs).map((slots) =>
      Math.ceil(Math.floor(slots + SLACK) * budgetFraction(isolation, silentMs, windowMs) - SLACK),
    );
  }
  const fraction = budgetFraction(isolation, silentMs, windowMs) * CAUTION;
  return scaled(budgetAfter(budget, silentMs, windowMs), fraction);
}

/**
 * The isolation limit for calls of this cost. A budget is rarely a whole number of calls, so some agents round up and
 * others down, by their ids, and together they use the whole budget. No rounding applies where calls are too large, or
 * agents too few, for the roundings to cancel out.
 */
export function roundedLimit(agent: Agent, quota: Quota, cost: Amounts, now: number): Amounts {
  const limit = isolationLimit(agent, quota, now);
  const isEven = !quota.slots && cost.every((amount, i) => amount ** 2 <= (at(quota.limits, i) * at(limit, i)) / EVEN);
  if (!isEven) return limit;
  const part = hash32(agent.config.id) / 2 ** 32;
  return limit.map((amount, i) => amount + part * at(cost, i));
}

/** Time at which an isolated agent can send a call of this cost, if nothing changes. */
export function isolationRetryAt(agent: Agent, quota: Quota, cost: Amounts, now: number): number {
  const limit = roundedLimit(agent, quota, cost, now);
  const { own } = quota.usage;
  // Slots do not become free with time, but budgets change with time.
  if (quota.slots) return fits(cost, minus(limit, own.sum)) ? now : now + agent.config.tuning.heartbeatMs;
  const isTooLarge = !fits(cost, limit);
  const freeAt = own.goneAt(minus(own.sum, isTooLarge ? scaled(cost, 0) : minus(limit, cost)));
  return Math.max(now, freeAt, isTooLarge ? savedUpAt(agent, quota, cost, limit, now) : now);
}

/** Time at which the budgets of consecutive windows add up to a call that exceeds the budget of one window. */
export function savedUpAt(agent: Agent, quota: Quota, cost: Amounts, limit: Amounts, now: number): number {
  const { config } = agent;
  const { savedSince } = quota.isolation;
  const size = sizeOf(cost, limit);
  if (quota.slots || config.isolation === "safe" || !Number.isFinite(size)) return Infinity;
  // Where a window holds less than one call per agent, all agents would otherwise save up for the same moment.
  const spread = config.store && savedSince === -Infinity ? 1 + hash32(config.id) / 2 ** 32 : 1;
  return Math.max(budgetOf(agent, quota, now).since, savedSince) + quota.config.windowMs * size * spread;
}

/**
 * Reports the unused budget as a claim before all others, because peers may receive messages of this agent although
 * this agent receives none. Includes usage that leaves the own window before the next report.
 */
export function claimOfBudget(agent: Agent, quota: Quota, now: number): ClaimReport {
  const { own } = quota.usage;
  const left = minus(isolationLimit(agent, quota, now), own.sum);
  addTo(left, own.goneBy(now + 2 * agent.config.tuning.heartbeatMs));
  return {
    // A part of a dimension without a limit needs no claim, and all others would have to wait for it at the steady pace.
    amounts: left.map((amount, i) => (at(quota.limits, i) < UNLIMITED ? Math.max(0, amount) : 0)),
    next: quota.demand.next ?? zeros(left.length),
    virtualTime: 0,
    tie: hash32(agent.config.id),
    waitedMs: Math.max(0, now - quota.demand.waitingSince),
  };
}

/** Fixes the isolation budget, unless it is fixed already. */
export function enterIsolation(agent: Agent, quota: Quota, now: number): void {
  quota.isolation.budget ??= isolationBudget(agent, quota, now);
}

/** The fixed budget, or the one that `enterIsolation` would fix now. */
function budgetOf(agent: Agent, quota: Quota, now: number): IsolationBudget {
  return quota.isolation.budget ?? isolationBudget(agent, quota, now);
}

/** The budget of an agent that becomes isolated now: its share of the last agreement. */
function isolationBudget(agent: Agent, quota: Quota, now: number): IsolationBudget {
  const { store, link } = agent;
  if (store?.isStore) return storeBudget(agent, quota, Math.min(now, store.unansweredSince));
  if (store && store.peersInStoreAt > store.answeredAt) return leftBehindBudget(agent, quota, now);
  // Peers have received nothing since the first message of this agent that was not delivered.
  const since = Math.min(now, link.unansweredSince, link.unechoedSince);
  // Until the end of its first join phase an agent does not know its peers.
  const { joinHeartbeats, heartbeatMs } = agent.config.tuning;
  const isAgreed = link.receivedAt !== -Infinity && since >= agent.startedAt + joinHeartbeats * heartbeatMs;
  const range = isAgreed
    ? (agreement(agent, quota, now, since).get(undefined) as BudgetRange)
    : unheardBudget(agent, quota);
  return { since, isAgreed, ...range };
}

/** The budget while the store is unreachable: used and granted amounts at first, the last fair share a window later. */
function storeBudget(agent: Agent, quota: Quota, since: number): IsolationBudget {
  const { grant } = quota.allocation;
  const isAgreed = grant?.isAgreed === true;
  const unspent = unspentOf(quota);
  const range = isAgreed
    ? { from: quota.usage.own.sum.map((amount, i) => amount + at(unspent, i)), to: grant.fair }
    : unheardBudget(agent, quota);
  return { since, isAgreed, ...range };
}

/**
 * The budget while peers are in store mode and this agent cannot reach the store. No agent holds capacity free for one
 * that the store does not know, so the budget is an equal share as after a long silence.
 */
function leftBehindBudget({ membership }: Agent, { limits, config }: Quota, now: number): IsolationBudget {
  const share = scaled(limits, 1 / Math.max(membership.reportedMembers, membership.members));
  return { since: now - 2 * config.windowMs - 60_000, isAgreed: true, from: share, to: share };
}

/**
 * The budget of an agent that has never received anything from a peer or the store: an equal share of the limit, or the
 * minimum.
 */
function unheardBudget(agent: Agent, { limits, config }: Quota): BudgetRange {
  const { expectedAgents } = agent.config;
  // Without the margin, all agents together would use exactly the limit, and slightly more once they meet. The margin is
  // rounded down: a limit of one call for each agent has nothing to spare.
  const margin = expectedAgents === 1 ? 0 : 1 - CAUTION;
  const share = limits.map((limit) =>
    expectedAgents ? (limit - Math.floor(limit * margin)) / expectedAgents : limit * config.rules.levelMin,
  );
  return { from: share, to: share };
}
