import { type Agent, modeIn, partOf } from "./agent.ts";
import { isAllotted, takeAllotted } from "./allotment.ts";
import { type Amounts, addTo, at, fits, SLACK, sizeOf, takeFrom } from "./amounts.ts";
import { fitsBetween } from "./backfill.ts";
import { claimsBefore, isHeard, lateOf } from "./claim.ts";
import { keptWay } from "./kept.ts";
import { pausedUntil } from "./level.ts";
import type { Pool } from "./pool.ts";
import { capacityOf, roomOf } from "./room.ts";
import { forgetKnown, repeatsOf, reportBy } from "./schedule.ts";
import { isInPace, paceIn, seeGrain, spread } from "./steady-pace.ts";
import { serve } from "./turn.ts";

/** By which right a call may be sent. Each spends something else. */
type Way = "alone" | "claimed" | "backfilled" | "unannounced" | "allocated" | "kept" | "saved-up";

/** May a call of this cost be sent now? Counts it if so. */
export function take(agent: Agent, pool: Pool, cost: Amounts, now: number): boolean {
  const way = wayOf(agent, pool, cost, now);
  if (way === undefined) return false;
  spend(agent, pool, way, cost, now);
  charge(agent, pool, cost, now);
  return true;
}

/** Whether `take` would count a call of this cost now. Spends nothing: no claim, no turn, no usage. */
export function mayTake(agent: Agent, pool: Pool, cost: Amounts, now: number): boolean {
  return wayOf(agent, pool, cost, now) !== undefined;
}

function wayOf(agent: Agent, pool: Pool, cost: Amounts, now: number): Way | undefined {
  if (now < pausedUntil(pool.level)) return undefined;
  switch (modeIn(agent, pool, now)) {
    case "listening":
      return undefined;
    case "served":
      return isAllotted(pool, cost) ? "allocated" : undefined;
    case "cut-off":
      return keptWay(agent, pool, cost, now);
    case "alone":
      return isAloneFree(agent, pool, cost, now) ? "alone" : undefined;
    case "member":
      return pool.claim
        ? claimedWay(agent, pool, cost, now)
        : isPartFree(agent, pool, cost, now)
          ? "unannounced"
          : undefined;
  }
}

function spend(agent: Agent, pool: Pool, way: Way, cost: Amounts, now: number): void {
  switch (way) {
    case "claimed":
    case "backfilled":
      // Those who were overtaken leave no room for it.
      if (way === "backfilled") reportBy(agent, pool, now, repeatsOf(agent, pool));
      if (pool.claim) takeFrom(pool.claim.amounts, cost);
      break;
    case "unannounced":
      addTo(pool.blind, cost);
      addTo(pool.unsaid, cost);
      break;
    case "allocated":
      takeAllotted(pool, cost);
      break;
    case "saved-up":
      pool.savedSince = now;
      break;
    case "alone":
    case "kept":
  }
}

function isAloneFree(agent: Agent, pool: Pool, cost: Amounts, now: number): boolean {
  return isInPace(agent, pool, undefined, now) && fits(cost, roomOf(agent, pool, now));
}

/** With a claim that all have heard: when there is room for it and for all who come before. */
function claimedWay(agent: Agent, pool: Pool, cost: Amounts, now: number): "claimed" | "backfilled" | undefined {
  const { claim } = pool;
  if (!claim || !isHeard(agent, pool, claim, now) || !fits(cost, claim.amounts)) return undefined;
  const room = roomOf(agent, pool, now);
  if (!fits(cost, room)) return undefined;
  const before = claimsBefore(pool);
  takeFrom(room, before);
  const isNext = fits(cost, room);
  if (!isNext && !fitsBetween(agent, pool, claim, cost, before, now)) return undefined;
  if (!isInPace(agent, pool, isNext ? before : undefined, now)) return undefined;
  return isNext ? "claimed" : "backfilled";
}

/**
 * Without a word to the others: this agent's part of what is free, so that it holds even if all do the same at once. What
 * it has used and they may not know of counts against its part.
 */
function isPartFree(agent: Agent, pool: Pool, cost: Amounts, now: number): boolean {
  if (!isInPace(agent, pool, undefined, now)) return false;
  forgetKnown(agent, pool, now);
  const free = roomOf(agent, pool, now);
  takeFrom(free, pool.claimed);
  const part = partOf(agent, now);
  for (let i = 0; i < cost.length; i++) {
    const blind = at(pool.blind, i);
    if (blind + at(cost, i) > (at(free, i) + blind) * part + SLACK) return false;
  }
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
