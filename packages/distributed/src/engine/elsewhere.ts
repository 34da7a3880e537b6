import type { Agent } from "./agent.ts";
import { type Amounts, at, isZero, takeFrom } from "./amounts.ts";
import type { Pool } from "./pool.ts";

/** So many heartbeats later every agent has said what it had used until then. */
const SAID = 2.5;

/** What an answer showed to be used, and nobody has said yet that it was him. */
export interface Elsewhere {
  readonly at: number;
  /** From then on it was someone who is on no bus. */
  readonly until: number;
  readonly amounts: number[];
}

/**
 * The provider has counted so much more than we know of: used by someone who is on no bus, or by an agent that has not said
 * so yet. It is gone in either case. Others learn it from answers of their own.
 */
export function usedElsewhere({ config, members }: Agent, pool: Pool, amounts: Amounts, now: number): void {
  const { heartbeatMs, crowd } = config.tuning;
  pool.used.add(now, amounts);
  pool.unnamed.add(now, amounts);
  pool.changedAt = now;
  pool.elsewhere = pool.elsewhere.filter(({ until }) => until > now);
  const until = now + SAID * heartbeatMs * Math.max(1, members / crowd);
  pool.elsewhere.push({ at: now, until, amounts: [...amounts] });
}

/**
 * Another agent says what it has used, or a call of ours turns out to have used more than was thought: what an answer had
 * shown of that is not counted a second time.
 */
export function recognise(pool: Pool, said: Amounts, now: number): void {
  if (pool.elsewhere.length === 0) return;
  pool.elsewhere = pool.elsewhere.filter(({ until }) => until > now);
  const left = [...said];
  for (const { at: time, amounts } of pool.elsewhere) {
    const same = amounts.map((amount, i) => Math.max(0, Math.min(amount, at(left, i))));
    if (isZero(same)) continue;
    takeFrom(left, same);
    takeFrom(amounts, same);
    const named = same.map((amount) => -amount);
    pool.used.add(time, named);
    pool.unnamed.add(time, named);
  }
}
