import { type Agent, shareByWeight } from "./agent.ts";
import { type Amounts, sizeOf } from "./amounts.ts";
import type { Quota } from "./quota.ts";
import { repeatsOf, reportBy } from "./schedule.ts";

/**
 * Schedules an early report once the usage that peers do not know of is too large. Retransmissions follow where the
 * safety margin cannot absorb it.
 */
export function reportLargeUsage(agent: Agent, quota: Quota, capacity: Amounts, now: number): void {
  const { unreportedShare, safetyMargin } = agent.config.tuning;
  const unreported = sizeOf(quota.reporting.unreported, capacity);
  if (unreported >= unreportedShare * shareByWeight(agent, now))
    reportBy(agent, quota, now, unreported > safetyMargin / 2 ? repeatsOf(agent, quota) : 0);
}
