import { type Agent, modeIn, partOf } from "./agent.ts";
import { takeAllotted } from "./allotment.ts";
import { type Amounts, addTo, at, fits, SLACK, sizeOf, takeFrom } from "./amounts.ts";
import { fitsBetween } from "./backfill.ts";
import { claimsBefore, isHeard, lateOf } from "./claim.ts";
import { takeKept } from "./kept.ts";
import { pausedUntil } from "./level.ts";
import type { Pool } from "./pool.ts";
import { capacityOf, roomOf } from "./room.ts";
import { forgetKnown, repeatsOf, reportBy } from "./schedule.ts";
import { isInPace, paceIn, seeGrain, spread } from "./steady-pace.ts";
import { serve } from "./turn.ts";

/** May a call of this cost be sent now? Counts it if so. */
export function take(agent: Agent, pool: Pool, cost: Amounts, now: number): boolean {
  if (now < pausedUntil(pool.level)) return false;
  const mode = modeIn(agent, pool, now);
  if (mode === "listening") return false;
  if (mode === "served") {
    if (!takeAllotted(pool, cost)) return false;
  } else if (mode === "cut-off") {
    if (!takeKept(agent, pool, cost, now)) return false;
  } else {
    const isAllowed = mode === "alone" ? takeAlone : pool.claim ? takeClaimed : takeBlindly;
    if (!isAllowed(agent, pool, cost, now)) return false;
  }
  charge(agent, pool, cost, now);
  return true;
}

function takeAlone(agent: Agent, pool: Pool, cost: Amounts, now: number): boolean {
  return isInPace(agent, pool, undefined, now) && fits(cost, roomOf(agent, pool, now));
}

/** With a claim that all have heard: when there is room for it and for all who come before. */
function takeClaimed(agent: Agent, pool: Pool, cost: Amounts, now: number): boolean {
  const { claim } = pool;
  if (!claim || !isHeard(agent, pool, claim, now) || !fits(cost, claim.amounts)) return false;
  const room = roomOf(agent, pool, now);
  if (!fits(cost, room)) return false;
  const before = claimsBefore(pool);
  takeFrom(room, before);
  const isNext = fits(cost, room);
  if (!isNext && !fitsBetween(agent, pool, claim, cost, before, now)) return false;
  if (!isInPace(agent, pool, isNext ? before : undefined, now)) return false;
  if (!isNext) reportBy(agent, pool, now, repeatsOf(agent, pool));
  takeFrom(claim.amounts, cost);
  return true;
}

/**
 * Without a word to the others: this agent's part of what is free, so that it holds even if all do the same at once. What
 * it has used and they may not know of counts against its part.
 */
function takeBlindly(agent: Agent, pool: Pool, cost: Amounts, now: number): boolean {
  if (!isInPace(agent, pool, undefined, now)) return false;
  forgetKnown(agent, pool, now);
  const free = roomOf(agent, pool, now);
  takeFrom(free, pool.claimed);
  const part = partOf(agent, now);
  for (let i = 0; i < cost.length; i++) {
    const blind = at(pool.blind, i);
    if (blind + at(cost, i) > (at(free, i) + blind) * part + SLACK) return false;
  }
  addTo(pool.blind, cost);
  addTo(pool.unsaid, cost);
  return true;
}

function charge(agent: Agent, pool: Pool, cost: Amounts, now: number): void {
  const { debt, unsaid, headroom } = agent.config.tuning;
  pool.used.add(now, cost);
  pool.own.add(now, cost);
  addTo(pool.sent, cost);
  const capacity = capacityOf(agent, pool, now);
  pool.pace.add(now, cost, paceIn(agent, pool, capacity));
  spread(agent, pool, cost, now);
  pool.changedAt = now;
  pool.sentAt = now;
  seeGrain(pool, cost);
  const part = partOf(agent, now);
  serve(pool.turns, sizeOf(cost, pool.limits) / agent.config.weight, debt / agent.weights, lateOf(agent, pool));
  const unsaidSize = sizeOf(pool.unsaid, capacity);
  // What is more than the headroom could hide must not get lost.
  if (unsaidSize >= unsaid * part) reportBy(agent, pool, now, unsaidSize > headroom / 2 ? repeatsOf(agent, pool) : 0);
}
