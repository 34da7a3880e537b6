import type { Agent } from "./agent.ts";
import { addTo } from "./amounts.ts";
import type { DatedUsage } from "./dated-usage.ts";
import { attributeExternalUsage } from "./external-usage.ts";
import type { Quota } from "./quota.ts";
import { noteChange } from "./schedule.ts";

/** Counts own usage from before this quota existed. */
export function countEarlierUsage(agent: Agent, quota: Quota, earlier: readonly DatedUsage[], now: number): void {
  const { usage, reporting } = quota;
  noteChange(agent, quota, now);
  for (const dated of earlier) {
    usage.swarm.add(dated.at, dated.amounts);
    usage.own.add(dated.at, dated.amounts);
    attributeExternalUsage(quota, dated.amounts, now);
    addTo(usage.spentTotal, dated.amounts);
    addTo(reporting.unreported, dated.amounts);
    addTo(reporting.unconfirmed, dated.amounts);
  }
}
