import { type Agent, listenedAt } from "./agent.ts";
import { at, takeFrom } from "./amounts.ts";
import { LONGEST_NEXT_MS } from "./message.ts";
import type { Pool } from "./pool.ts";
import { isQuiet } from "./store-side.ts";

/** After so long everyone has heard what was said. Where nothing can be spared it has to be surer than elsewhere. */
export function settleMsOf({ config }: Agent, pool: Pool): number {
  return config.tuning.settleMs * careOf(config.tuning.headroom, pool);
}

/** How often what matters is said again: once more where a single call is larger than all that is spared. */
export function repeatsOf({ config }: Agent, pool: Pool): number {
  const { repeats, headroom } = config.tuning;
  const isLarge = pool.grain.some((amount, i) => amount > at(pool.limits, i) * headroom);
  return repeats * careOf(headroom, pool) + (isLarge && repeats > 0 ? 1 : 0);
}

function careOf(headroom: number, { limits }: Pool): number {
  for (let i = 0; i < limits.length; i++) if (at(limits, i) * headroom < 1) return 2;
  return 1;
}

/**
 * Has this pool reported as soon as messages may follow each other, and then so many times again. In store mode only what
 * all must hear at once.
 */
export function reportBy(agent: Agent, pool: Pool, now: number, repeats: number, isUrgent = false): void {
  if (!isUrgent && isQuiet(agent, now)) return;
  const { gapMs } = agent.config.tuning;
  pool.reportAt = Math.min(pool.reportAt, Math.max(now, agent.publishedAt + gapMs));
  pool.repeats = Math.max(pool.repeats, repeats);
}

/** Refunds are reported for this long: a peer that missed one report has the next ones. */
export function refundedMsOf({ config }: Agent): number {
  return 4 * config.tuning.heartbeatMs;
}

/** Something changed of late: it is said at every heartbeat, and now and then once all must have heard it. */
function isFresh(agent: Agent, pool: Pool, now: number): boolean {
  return pool.claim !== undefined || now - pool.changedAt < 3 * agent.config.tuning.heartbeatMs;
}

/** There is something to say about it at all; for a window longer that there is nothing any more. */
export function isActive(pool: Pool, now: number): boolean {
  const isClaimed = pool.claim !== undefined || pool.kept !== undefined;
  return isClaimed || pool.level.epoch > 0 || now - pool.changedAt < 2 * pool.config.windowMs;
}

/** When the next message is due. */
export function publishAt(agent: Agent, now: number): number {
  // A promise is kept, also by one who meanwhile may speak less often.
  let due = isQuiet(agent, now) ? Infinity : agent.publishedAt + Math.min(agent.promisedMs, heartbeatOf(agent, now));
  for (const pool of agent.pools.values()) due = Math.min(due, pool.reportAt);
  return due;
}

/** In a crowd everyone speaks less often: all hear all, and what matters is said at once anyway. */
export function busyMsOf({ config, members }: Agent): number {
  return Math.min(LONGEST_NEXT_MS, config.tuning.heartbeatMs * Math.max(1, members / config.tuning.crowd));
}

/** How often this agent speaks now. */
export function heartbeatOf(agent: Agent, now: number): number {
  const { heartbeatMs, idleHeartbeatMs } = agent.config.tuning;
  // It has to hear itself at the end of the time in which it listens. Later: nobody may have heard the last one.
  if (now < listenedAt(agent)) return heartbeatMs;
  if (now - Math.min(agent.unansweredSince, agent.unechoedSince) > heartbeatMs / 2) return heartbeatMs;
  const busyMs = busyMsOf(agent);
  for (const pool of agent.pools.values()) if (isFresh(agent, pool, now)) return busyMs;
  return Math.max(busyMs, idleHeartbeatMs);
}

/** What was said long enough ago is known to all. */
export function forgetKnown(agent: Agent, pool: Pool, now: number): void {
  const { reports } = pool;
  const { echoes } = agent.config;
  for (;;) {
    const report = reports[0];
    if (!report || report.at + settleMsOf(agent, pool) > now || (echoes && report.seq > agent.echoedSeq)) return;
    takeFrom(pool.blind, report.blind);
    pool.heardWaiting = report.waiting;
    reports.shift();
  }
}
