import type { Agent } from "./agent.ts";
import { addTo, minus } from "./amounts.ts";
import type { Quota } from "./quota.ts";

/**
 * Drops usage that a newcomer counts for too long. Join snapshots tell a newcomer only the bin in which earlier usage
 * fell, but every report states the sender's usage in its own last window: the swarm's window cannot hold more than the
 * sum of those.
 */
export function reconcile(agent: Agent, { config, usage }: Quota, now: number): void {
  const { name, windowMs } = config;
  usage.own.expire(now);
  usage.unattributed.expire(now);
  const most = usage.own.sum.map((amount) => Math.max(0, amount));
  addTo(most, usage.unattributed.sum);
  for (const { quotas } of agent.membership.peers.values()) {
    const known = quotas.get(name);
    if (!known) continue;
    // The usage of a peer that reports another window is out of date.
    if (known.receivedReport.windowMs !== windowMs) return;
    addTo(most, known.report.used);
  }
  const excess = minus(usage.swarm.sum, most);
  if (excess.some((amount) => amount > 0)) usage.swarm.trim(excess);
}
