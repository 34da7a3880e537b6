import type { Agent } from "./agent.ts";
import { type Amounts, at, fits, minus, SLACK } from "./amounts.ts";
import type { Pool } from "./pool.ts";

/** What the store has handed out and is not used yet. */
export function leftOf({ allotment, sent }: Pool): number[] {
  return sent.map((amount, i) => Math.max(0, (allotment?.allowed[i] ?? 0) - amount));
}

/** A call that was handed out is sent: whoever has what it stood in line for does not stand there any more. */
export function takeAllotted(pool: Pool, cost: Amounts): void {
  pool.askedFor = pool.askedFor.map((amount, i) => Math.max(0, amount - at(cost, i)));
}

/** In store mode: a call goes when it was handed out. */
export function isAllotted(pool: Pool, cost: Amounts): boolean {
  return fits(cost, leftOf(pool));
}

/** Whoever begins to want something asks soon; whoever stands in the store's line already need not ask again. */
export function wantAllotted({ store, config }: Agent, pool: Pool, next: Amounts, now: number): void {
  if (!store || isAllotted(pool, next) || pool.askedFor.some((amount) => amount > 0)) return;
  store.askAt = Math.min(store.askAt, Math.max(now, store.askedAt + config.tuning.heartbeatMs / 5));
}

/** What is wanted now, and what will be until the next call if it goes on like that. Several calls a heartbeat are a habit; one is, for whoever wants the next already. */
export function wantedOf({ config }: Agent, pool: Pool, now: number): { next: Amounts; all: Amounts } {
  const { grain, next, all } = pool;
  const recent = pool.own.since(now - config.tuning.heartbeatMs);
  const isHabit = recent.some((amount, i) => at(grain, i) > 0 && amount >= (next ? 1 : 2) * at(grain, i) - SLACK);
  const waiting = next ? all.map((amount, i) => Math.max(amount, at(next, i))) : minus(all, all);
  if (!isHabit) return { next: next ?? waiting, all: waiting };
  const expected = waiting.map((amount, i) => amount + Math.max(0, at(recent, i)));
  return { next: next ?? grain.map((amount, i) => Math.min(amount, at(expected, i))), all: expected };
}
