import { at } from "../engine/amounts.ts";
import { levelAt } from "../engine/level.ts";
import type { Pool } from "../engine/pool.ts";

/** What all may use together in a window now, without the dust that powers of 1.1 leave in the last digits. */
export function totalOf(pool: Pool, now: number): number {
  const { limits, rules, main = 0 } = pool.config;
  const limit = at(pool.limits, main);
  const least = Math.min(limit, at(limits, main) * rules.least);
  return Math.round(Math.max(limit * levelAt(pool.level, now), least) * 1e6) / 1e6;
}
