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
  return now + waitMs;
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
  const { contendedMs, savedMs } = agent.config.tuning;
  const isContended = now < pool.contendedUntil || now - pool.waitingSince > contendedMs;
  if (!isContended) return pool.config.burst;
  const level = levelAt(pool.level, now);
  return paceOf(agent, pool, now).map((perMs, i) => {
    const lead = perMs * savedMs;
    // Calls of which one is more than that come as they come.
    return at(pool.grain, i) * level <= lead ? lead : Infinity;
  });
}

/** How large calls are: quick to notice large ones, slow to forget them. */
export function seeGrain({ grain }: Pool, cost: Amounts): void {
  for (let i = 0; i < grain.length; i++) {
    const more = at(cost, i) - at(grain, i);
    grain[i] = at(grain, i) + (more > 0 ? more : more / 50);
  }
}
