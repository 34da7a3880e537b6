import type { Agent } from "./agent.ts";
import { addTo, at, isZero, zeros } from "./amounts.ts";
import { agentMode } from "./modes/mode-of.ts";
import type { Quota } from "./quota.ts";
import { BINS } from "./usage-window.ts";

/**
 * Adds the usage of departed agents at the end of the join phase: no live peer reports it, but peers that saw it included it
 * in their snapshots. Without it a newcomer would under-count.
 */
export function applyJoinSnapshot(agent: Agent, { history, usage, limits }: Quota, now: number): void {
  const { joinSnapshot } = history;
  if (!joinSnapshot || agentMode(agent, now) === "joining" || now < (agent.store?.returnsAt ?? 0)) return;
  history.joinSnapshot = undefined;
  const { swarm, unattributed } = usage;
  const binMs = swarm.windowMs / BINS;
  const total = zeros(limits.length);
  // Bins of different agents start at different times, so sums from a time until now are compared rather than bins.
  joinSnapshot.bins.forEach((bin, b) => {
    addTo(total, bin);
    const known = swarm.since(joinSnapshot.at - (b + 1) * binMs);
    const missing = total.map((amount, i) => Math.max(0, amount - at(known, i)));
    if (isZero(missing)) return;
    swarm.add(joinSnapshot.at - b * binMs, missing);
    unattributed.add(joinSnapshot.at - b * binMs, missing);
  });
}
