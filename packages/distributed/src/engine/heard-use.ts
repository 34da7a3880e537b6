import { type Agent, modeOf } from "./agent.ts";
import { at, isEqual, isZero, minus, takeFrom } from "./amounts.ts";
import { recognise } from "./elsewhere.ts";
import type { PoolReport } from "./message.ts";
import type { Pool } from "./pool.ts";
import { paceOf } from "./steady-pace.ts";
import { BINS } from "./use-window.ts";

/** A newcomer has been told of what somebody used before it came. Now it hears who that was. */
export function name(joinedAt: number, pool: Pool, { used, bins }: PoolReport, now: number): void {
  const { windowMs } = pool.config;
  const before = [...used];
  bins.forEach((bin, b) => {
    if ((b * windowMs) / BINS < now - joinedAt) takeFrom(before, bin);
  });
  pool.unnamed.trim(before);
  if (!isZero(used)) pool.hearsayUntil = now + windowMs;
}

/**
 * Counts what it has used since its last word as used now: late, never early. What it gave back counts from when that was
 * sent, which is early, never late. After a gap its bins say when it was.
 */
export function count(
  agent: Agent,
  pool: Pool,
  known: PoolReport | undefined,
  report: PoolReport,
  isGap: boolean,
  now: number,
): boolean {
  if (known && isEqual(report.sent, known.sent) && isEqual(report.back, known.back)) return false;
  const sent = known ? minus(report.sent, known.sent) : report.sent;
  const back = known ? minus(report.back, known.back) : report.back;
  recognise(pool, known ? sent : report.used, now);
  if (isGap) {
    const left = minus(sent, back);
    const binMs = pool.config.windowMs / BINS;
    for (let b = 0; b < BINS && left.some((amount) => amount > 0); b++) {
      const part = left.map((amount, i) => Math.max(0, Math.min(amount, at(report.bins[b] ?? left, i))));
      if (isZero(part)) continue;
      pool.used.add(now - b * binMs, part);
      for (let i = 0; i < left.length; i++) left[i] = at(left, i) - at(part, i);
    }
    return true;
  }
  if (!isZero(sent)) {
    pool.used.add(now, sent);
    // What is heard at once after standing still was not used at once: its agent would think itself out of pace for long.
    if (modeOf(agent, now) !== "listening") pool.pace.add(now, sent, paceOf(agent, pool, now));
  }
  if (!isZero(back)) {
    const returned = back.map((amount) => -amount);
    // This message may have taken longer than the one that said that it was sent.
    pool.used.add(now - report.backAgeMs - agent.config.tuning.settleMs, returned);
    pool.pace.add(now, returned, paceOf(agent, pool, now));
  }
  return true;
}
