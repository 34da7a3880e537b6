import { type Agent, isOneOfSeveral } from "./agent.ts";
import { at } from "./amounts.ts";
import { levelAt } from "./level.ts";
import type { Pool } from "./pool.ts";

/** What the swarm may use in a window now. */
export function capacityOf(agent: Agent, pool: Pool, now: number): number[] {
  const headroom = headroomOf(agent, pool, now);
  const level = levelAt(pool.level, now);
  const { limits: configured, rules } = pool.config;
  // Every decision comes by here: a copy and a loop, for closures are slow.
  const capacity = pool.limits.slice();
  for (let i = 0; i < capacity.length; i++) {
    const limit = at(capacity, i);
    // Of a limit of 3 there is nothing to spare. However low the level, and whatever others have configured, the least is there.
    const least = Math.min(limit, at(configured, i) * rules.least);
    capacity[i] = Math.max((limit - Math.floor(limit * headroom)) * level, least);
  }
  return capacity;
}

/** What newcomers know too late they take for used: those who know better leave twice as much, or newcomers had to wait. */
function headroomOf(agent: Agent, pool: Pool, now: number): number {
  if (!isOneOfSeveral(agent)) return 0;
  const isNew = now - agent.startedAt < pool.config.windowMs;
  return agent.config.tuning.headroom * (now < pool.newcomersUntil && !isNew ? 2 : 1);
}

/** What is left of it: what was used is gone, and what silent agents may be using is not ours to give. */
export function roomOf(agent: Agent, pool: Pool, now: number): number[] {
  const room = capacityOf(agent, pool, now);
  pool.used.expire(now);
  pool.own.expire(now);
  const { sum } = pool.used;
  // What was given back may leave the sum at another time than what it had been taken for.
  for (let i = 0; i < room.length; i++)
    room[i] = at(room, i) - Math.max(at(sum, i), at(pool.own.sum, i)) - at(pool.reserved, i);
  return room;
}
