import { type Agent, listenedAt, modeIn } from "./agent.ts";
import { isAllotted } from "./allotment.ts";
import { type Amounts, addTo, at, fits, minus, SLACK, sizeOf } from "./amounts.ts";
import { claimsBefore } from "./claim.ts";
import { keptAt } from "./kept.ts";
import { nextStepAt, pausedUntil } from "./level.ts";
import type { Pool } from "./pool.ts";
import { capacityOf, roomOf } from "./room.ts";
import { settleMsOf } from "./schedule.ts";
import { inPaceAt } from "./steady-pace.ts";
import { mayTake } from "./take.ts";

/** Bounds the search for the step of a recovery at which the capacity is large enough. */
const MOST_STEPS = 500;

/**
 * When a call of this cost could be sent, if nobody asks for anything else meanwhile: `now` when it could be sent at once.
 * The whole limit holds the cost: whoever asks has checked that. `ahead` is what calls of this agent take before it. Exact for an agent that
 * is alone; among others an estimate, because their demand is not known in advance.
 */
export function availableAt(agent: Agent, pool: Pool, cost: Amounts, ahead: Amounts | undefined, now: number): number {
  if (!ahead && mayTake(agent, pool, cost, now)) return now;
  const largeAt = largeEnoughAt(agent, pool, cost, now);
  const freeAt = Math.max(pausedUntil(pool.level), largeAt);
  switch (modeIn(agent, pool, now)) {
    case "listening": {
      const { heartbeatMs } = agent.config.tuning;
      // In store mode the next answer of the store ends it, and that is about a heartbeat away.
      if (agent.store?.isStore) return Math.max(freeAt, now + heartbeatMs);
      // An agent that has listened long enough and heard nothing yet goes on listening until its next message comes back.
      const heardAt = listenedAt(agent) > now ? listenedAt(agent) : now + heartbeatMs;
      return Math.max(freeAt, heardAt, roomAt(agent, pool, cost, ahead, freeAt, now));
    }
    case "cut-off":
      return Math.max(freeAt, keptAt(agent, pool, cost, now));
    case "served":
      return Math.max(freeAt, isAllotted(pool, cost) ? now : now + agent.config.tuning.heartbeatMs);
    case "alone":
      return roomAt(agent, pool, cost, ahead, freeAt, now);
    case "member": {
      const before = [...claimsBefore(pool)];
      if (ahead) addTo(before, ahead);
      // What exceeds an agent's part of the free capacity has to be announced first.
      const heardAt = pool.claim && pool.claim.publishedAt < Infinity ? pool.claim.publishedAt : now;
      return Math.max(heardAt + settleMsOf(agent, pool), roomAt(agent, pool, cost, before, freeAt, now));
    }
  }
}

/** When the level has recovered so far that a window holds this cost. */
function largeEnoughAt(agent: Agent, pool: Pool, cost: Amounts, now: number): number {
  let time = now;
  for (let i = 0; i < MOST_STEPS; i++) {
    if (fits(cost, capacityOf(agent, pool, time))) return time;
    const nextAt = nextStepAt(pool.level, time);
    // The level is whole: only the safety margin, which is larger while agents are new, is in the way.
    if (nextAt === Infinity) return time;
    time = nextAt;
  }
  return time;
}

/** When enough has left the window for this cost and all that is ahead of it, and the pace allows it. */
function roomAt(
  agent: Agent,
  pool: Pool,
  cost: Amounts,
  ahead: Amounts | undefined,
  from: number,
  now: number,
): number {
  const { windowMs } = pool.config;
  const all = [...cost];
  if (ahead) addTo(all, ahead);
  const capacity = capacityOf(agent, pool, from);
  // What is more than a window holds takes further windows.
  const windows = Math.max(0, sizeOf(minus(all, capacity), capacity));
  const first = all.map((amount, i) => Math.min(amount, at(capacity, i)));
  const room = roomOf(agent, pool, now);
  // The level may be higher then.
  addTo(room, minus(capacity, capacityOf(agent, pool, now)));
  const missing = first.map((amount, i) => amount - at(room, i) - SLACK);
  const goneAt = fits(first, room) ? now : pool.used.whenGone(missing);
  const wholeAt = Math.max(from, Math.min(goneAt, now + pool.used.longestMs));
  if (windows === 0) return Math.max(wholeAt, inPaceAt(agent, pool, ahead, now));
  // Either each window is used up at once and the next one follows, or all goes at a steady pace: the later of the two.
  const pacedMs = sizeOf(ahead ?? [], capacity) * (windowMs / agent.config.tuning.pace);
  return wholeAt + Math.max(Math.ceil(windows) * windowMs, pacedMs);
}
