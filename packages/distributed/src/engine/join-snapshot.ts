import type { Agent } from "./agent.ts";
import { addTo, at, isZero, zeros } from "./amounts.ts";
import { agentMode } from "./modes/mode-of.ts";
import type { JoinSnapshot, Quota } from "./quota.ts";

/**
 * Keeps the snapshot of the oldest peer, which has passed through the fewest agents. Each agent on the way adds up to one
 * bin to the age at which usage leaves the window.
 */
export function keepSnapshot({ history, config }: Quota, snapshot: JoinSnapshot): void {
  const least = Math.min(config.windowMs, history.joinSnapshot?.upMs ?? 0);
  if (snapshot.upMs >= least) history.joinSnapshot = snapshot;
}

/**
 * Adds the usage of departed agents at the end of the join phase: no live peer reports it, but peers that saw it included it
 * in their snapshots. Without it a newcomer would under-count.
 */
export function applyJoinSnapshot(agent: Agent, { history, usage, limits }: Quota, now: number): void {
  const { joinSnapshot } = history;
  if (!joinSnapshot || agentMode(agent, now) === "joining" || now < (agent.store?.returnsAt ?? 0)) return;
  history.joinSnapshot = undefined;
  const { swarm, unattributed } = usage;
  const binMs = swarm.windowMs / joinSnapshot.bins.length;
  const total = zeros(limits.length);
  // Bins of different agents start at different times, so sums from a time until now are compared rather than bins.
  joinSnapshot.bins.forEach((bin, b) => {
    addTo(total, bin);
    // Usage after the snapshot must not make up for usage that is missing in it.
    const known = swarm.between(joinSnapshot.at - (b + 1) * binMs, joinSnapshot.at);
    const missing = total.map((amount, i) => Math.max(0, amount - at(known, i)));
    if (isZero(missing)) return;
    swarm.add(joinSnapshot.at - b * binMs, missing);
    unattributed.add(joinSnapshot.at - b * binMs, missing);
  });
}
