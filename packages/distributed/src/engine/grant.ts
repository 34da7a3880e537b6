import type { Agent } from "./agent.ts";
import { type Amounts, at, fits, minus, SLACK } from "./amounts.ts";
import type { Quota } from "./quota.ts";

/** The unspent part of the store's grant. */
export function unspentOf({ allocation: { grant }, usage: { spentTotal } }: Quota): number[] {
  return spentTotal.map((amount, i) => Math.max(0, (grant?.allowed[i] ?? 0) - amount));
}

/** True when the store's grant covers the cost. */
export function isGranted(quota: Quota, cost: Amounts): boolean {
  return fits(cost, unspentOf(quota));
}

/** Records that a granted call is sent: its demand is no longer in the store's queue. */
export function spendGrant({ allocation }: Quota, cost: Amounts): void {
  allocation.requested = allocation.requested.map((amount, i) => Math.max(0, amount - at(cost, i)));
}

/** Schedules an early request for new demand. Demand that the store knows already is granted with a later reply. */
export function requestGrant({ store, config }: Agent, quota: Quota, next: Amounts, now: number): void {
  if (!store || isGranted(quota, next) || quota.allocation.requested.some((amount) => amount > 0)) return;
  store.askAt = Math.min(store.askAt, Math.max(now, store.askedAt + config.tuning.heartbeatMs / 5));
}

/**
 * Demand to request from the store: the waiting calls, and the calls expected until the next request at the recent
 * rate. Two calls in the last heartbeat make a rate, or one if the next call waits already.
 */
export function demandOf(
  { config }: Agent,
  { usage, demand, slots }: Quota,
  now: number,
): { next: Amounts; all: Amounts } {
  const { typicalCost } = usage;
  const { next, all } = demand;
  if (slots) return { next: next ?? minus(all, all), all: next ? all : minus(all, all) };
  const recent = usage.own.since(now - config.tuning.heartbeatMs);
  const isSteady = recent.some(
    (amount, i) => at(typicalCost, i) > 0 && amount >= (next ? 1 : 2) * at(typicalCost, i) - SLACK,
  );
  const waiting = next ? all.map((amount, i) => Math.max(amount, at(next, i))) : minus(all, all);
  if (!isSteady) return { next: next ?? waiting, all: waiting };
  const expected = waiting.map((amount, i) => amount + Math.max(0, at(recent, i)));
  return { next: next ?? typicalCost.map((amount, i) => Math.min(amount, at(expected, i))), all: expected };
}
