import { at } from "../engine/amounts.ts";
import { levelAt } from "../engine/level.ts";
import type { Pool } from "../engine/pool.ts";

/** The capacity of the swarm per window now, without the rounding errors of repeated recovery steps. */
export function totalOf(pool: Pool, now: number): number {
  const { limits, rules, main = 0 } = pool.config;
  const limit = at(pool.limits, main);
  const least = Math.min(limit, at(limits, main) * rules.least);
  return Math.round(Math.max(limit * levelAt(pool.level, now), least) * 1e6) / 1e6;
}
