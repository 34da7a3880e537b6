import type { Agent } from "./agent.ts";
import { addTo, at, isZero, zeros } from "./amounts.ts";
import { agentMode } from "./modes/mode-of.ts";
import type { EarlierUsage, JoinSnapshot, Quota } from "./quota.ts";

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
 * in their snapshots, and the store has it in its journal. Without it a newcomer would under-count.
 */
export function applyJoinSnapshot(agent: Agent, quota: Quota, now: number): void {
  const { history } = quota;
  const { joinSnapshot, journalSnapshot } = history;
  if (!joinSnapshot && !journalSnapshot) return;
  if (agentMode(agent, now) === "joining" || now < (agent.store?.returnsAt ?? 0)) return;
  history.joinSnapshot = undefined;
  history.journalSnapshot = undefined;
  if (joinSnapshot) addMissing(quota, joinSnapshot);
  if (journalSnapshot) addMissing(quota, journalSnapshot);
}

/** Adds the usage of a snapshot that this agent does not know yet. */
function addMissing({ usage, limits }: Quota, snapshot: EarlierUsage): void {
  const { swarm, unattributed } = usage;
  const binMs = swarm.windowMs / snapshot.bins.length;
  const total = zeros(limits.length);
  // Bins of different agents start at different times, so sums from a time until now are compared rather than bins.
  snapshot.bins.forEach((bin, b) => {
    addTo(total, bin);
    // Usage after the snapshot must not make up for usage that is missing in it.
    const known = swarm.between(snapshot.at - (b + 1) * binMs, snapshot.at);
    const missing = total.map((amount, i) => Math.max(0, amount - at(known, i)));
    if (isZero(missing)) return;
    swarm.add(snapshot.at - b * binMs, missing);
    unattributed.add(snapshot.at - b * binMs, missing);
  });
}
