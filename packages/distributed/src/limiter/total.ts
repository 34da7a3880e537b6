import { at, levelAt, type Quota } from "../engine/index.ts";

/** The capacity of the swarm per window now, without the rounding errors of repeated recovery steps. */
export function totalOf(quota: Quota, now: number): number {
  const { limits, rules, main = 0 } = quota.config;
  const limit = at(quota.limits, main);
  const least = Math.min(limit, at(limits, main) * rules.levelMin);
  return Math.round(Math.max(limit * levelAt(quota.backoff.level, now), least) * 1e6) / 1e6;
}
