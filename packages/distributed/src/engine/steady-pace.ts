import type { Agent } from "./agent.ts";
import { type Amounts, at, scaled } from "./amounts.ts";
import { levelAt } from "./level.ts";
import type { Pool } from "./pool.ts";
import { capacityOf } from "./room.ts";

/** When somebody waits, the swarm goes on at a steady pace, however much room there is at once. */
export function isInPace(agent: Agent, pool: Pool, before: Amounts | undefined, now: number): boolean {
  return inPaceAt(agent, pool, before, now) <= now;
}

/** When the swarm, and those who are to be served before, are no further ahead of the pace than they may be. */
export function inPaceAt(agent: Agent, pool: Pool, before: Amounts | undefined, now: number): number {
  const lead = leadOf(agent, pool, now);
  if (!lead) return now;
  const perMs = paceOf(agent, pool, now);
  const ahead = pool.pace.at(now, perMs);
  let waitMs = 0;
  for (let i = 0; i < ahead.length; i++) {
    const excess = at(ahead, i) + (before ? at(before, i) : 0) - at(lead, i);
    if (excess > 0) waitMs = Math.max(waitMs, excess / at(perMs, i));
  }
  const spreadMs = pool.spreadUntil - CRUMB_MS - now;
  if (spreadMs > 0) waitMs = Math.max(waitMs, spreadMs, CRUMB_MS);
  return now + waitMs;
}

/** An agent looks again when it may send more than a crumb. */
const CRUMB_MS = 10;

/**
 * Also what is claimed is not sent in one go, or all who are served at the same time would be a crowd: a claim is spread
 * over a while, and what is sent without one over the pace of all.
 */
export function spread(agent: Agent, pool: Pool, cost: Amounts, now: number): void {
  const lead = isContended(agent, pool, now) && leadOf(agent, pool, now);
  if (!lead) return;
  const perMs = pool.claim?.perMs ?? paceOf(agent, pool, now);
  let ms = 0;
  for (let i = 0; i < cost.length; i++)
    if (at(cost, i) > 0 && at(lead, i) < Infinity) ms = Math.max(ms, at(cost, i) / at(perMs, i));
  pool.spreadUntil = Math.max(pool.spreadUntil, now) + ms;
}

/** The pace at which a window is used up evenly, a little faster. */
export function paceOf(agent: Agent, pool: Pool, now: number): number[] {
  return paceIn(agent, pool, capacityOf(agent, pool, now));
}

/** The same, where the capacity is known already. */
export function paceIn(agent: Agent, pool: Pool, capacity: Amounts): number[] {
  return scaled(capacity, agent.config.tuning.pace / pool.config.windowMs);
}

/** How far the swarm may be ahead of that pace: a second's worth when somebody has to wait, else the burst. */
export function leadOf(agent: Agent, pool: Pool, now: number): Amounts | undefined {
  const { savedMs } = agent.config.tuning;
  if (!isContended(agent, pool, now)) return pool.config.burst;
  const level = levelAt(pool.level, now);
  return paceOf(agent, pool, now).map((perMs, i) => {
    const lead = perMs * savedMs;
    // Calls of which one is more than that come as they come.
    return at(pool.grain, i) * level <= lead ? lead : Infinity;
  });
}

/** Somebody has waited for long. */
function isContended({ config }: Agent, { contendedUntil, waitingSince }: Pool, now: number): boolean {
  return now < contendedUntil || now - waitingSince > config.tuning.contendedMs;
}

/** How large calls are: quick to notice large ones, slow to forget them. */
export function seeGrain({ grain }: Pool, cost: Amounts): void {
  for (let i = 0; i < grain.length; i++) {
    const more = at(cost, i) - at(grain, i);
    grain[i] = at(grain, i) + (more > 0 ? more : more / 50);
  }
}
