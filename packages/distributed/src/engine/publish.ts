import type { Agent } from "./agent.ts";
import { modeIn } from "./agent.ts";
import { addTo, zeros } from "./amounts.ts";
import { claimOfKept } from "./kept.ts";
import type { Level } from "./level.ts";
import type { ClaimReport, Message, PoolReport } from "./message.ts";
import type { OwnClaim, Pool } from "./pool.ts";
import { forgetKnown, heartbeatOf, isActive, publishAt, refundedMsOf } from "./schedule.ts";
import { isQuiet } from "./store-side.ts";

/** The message that is due now, if one is. */
export function publish(agent: Agent, now: number, bye = false): Message | undefined {
  if (!agent.config.hasBus || agent.left || (!bye && now < publishAt(agent, now))) return undefined;
  const { heartbeatMs } = agent.config.tuning;
  const nextMs = heartbeatOf(agent, now);
  const seq = ++agent.seq;
  const isHeartbeat = now - agent.publishedAt >= Math.min(agent.promisedMs, nextMs) && !isQuiet(agent, now);
  const pools: PoolReport[] = [];
  for (const pool of agent.pools.values()) {
    // The last word says all that others do not know yet.
    const isTime = (bye && !isQuiet(agent, now)) || (isHeartbeat && now - pool.reportedAt >= heartbeatMs / 2);
    if (pool.reportAt <= now || (isTime && isActive(pool, now))) pools.push(report(agent, pool, seq, now));
  }
  agent.publishedAt = now;
  agent.promisedMs = nextMs;
  if (agent.unansweredSince === Infinity) agent.unansweredSince = now;
  if (agent.unechoedSince === Infinity) agent.unechoedSince = now;
  const { id, life, weight } = agent.config;
  return {
    id,
    life,
    seq,
    upMs: now - agent.startedAt,
    nextMs,
    weight,
    members: agent.members,
    bye,
    ...storeOf(agent),
    pools,
  };
}

/** Others need not know of it while the bus is all there is. */
function storeOf({ store }: Agent): { store?: boolean } {
  return store?.isStore ? { store: true } : {};
}

/** So many reports may be on their way; on a good day it is a handful. */
const MOST_REPORTS = 256;

function report(agent: Agent, pool: Pool, seq: number, now: number): PoolReport {
  const { repeatMs } = agent.config.tuning;
  pool.reportAt = pool.repeats > 0 ? now + repeatMs : Infinity;
  pool.repeats = Math.max(0, pool.repeats - 1);
  pool.reportedAt = now;
  forgetKnown(agent, pool, now);
  const blind = pool.unsaid;
  // When nobody hears it for long, the last of them stands for all that follow.
  const last = pool.reports.length < MOST_REPORTS ? undefined : pool.reports.pop();
  if (last) addTo(blind, last.blind);
  pool.reports.push({ seq, at: now, blind, waiting: pool.all });
  pool.unsaid = zeros(pool.limits.length);
  pool.saidLimits = pool.config.limits;
  const { claim } = pool;
  if (claim && claim.seq === Infinity) {
    claim.seq = seq;
    claim.publishedAt = now;
  }
  const mode = modeIn(agent, pool, now);
  return {
    name: pool.config.name,
    windowMs: pool.config.windowMs,
    dimensions: pool.config.dimensions,
    limits: pool.config.limits,
    sent: [...pool.sent],
    back: [...pool.back],
    backAgeMs: pool.refundAges.oldestMs(now, refundedMsOf(agent)),
    used: [...pool.own.sum],
    bins: pool.own.bins(now),
    waiting: pool.all,
    ...(pool.isTried ? { tried: true } : {}),
    claim: mode === "cut-off" ? claimOfKept(agent, pool, now) : claim && claimReport(pool, claim, now),
    turn: pool.turns.line,
    // Also one that has long been whole again: the next cut of a newcomer must come after it.
    level: pool.level.epoch === 0 ? undefined : withAges(pool.level, now),
    seen: mode === "member" && now < pool.welcomeUntil ? pool.used.bins(now) : undefined,
  };
}

function claimReport(pool: Pool, { amounts, turn, tie }: OwnClaim, now: number): ClaimReport {
  return { amounts: [...amounts], next: pool.next ?? amounts, turn, tie, waitedMs: now - pool.waitingSince };
}

/** Times on this agent's clock become ages, and back. */
export function withAges(level: Level, now: number): Level {
  return { ...level, cutAt: now - level.cutAt, pausedAt: now - level.pausedAt };
}
