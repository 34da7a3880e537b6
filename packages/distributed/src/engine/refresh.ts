import { type Agent, isOneOfSeveral } from "./agent.ts";
import { applyJoinSnapshot } from "./join-snapshot.ts";
import type { Quota } from "./quota.ts";
import { refreshSubWindows } from "./sub-windows.ts";

/** Brings the windows of a quota up to date. */
export function refresh(agent: Agent, quota: Quota, now: number): void {
  const { swarm, own, unattributed } = quota.usage;
  // An agent with a fast clock would drop the usage of others too early.
  swarm.retainMs = isOneOfSeveral(agent) ? quota.config.windowMs * agent.config.tuning.drift : 0;
  swarm.expire(now);
  own.expire(now);
  unattributed.expire(now);
  refreshSubWindows(quota, now);
  applyJoinSnapshot(agent, quota, now);
}

/** Brings the windows of all quotas up to date when the first peer was heard, or the last was forgotten. */
export function refreshAfterMeeting(agent: Agent, now: number): void {
  const { agenda } = agent;
  if (agenda.isRetaining === isOneOfSeveral(agent)) return;
  agenda.isRetaining = !agenda.isRetaining;
  for (const quota of agent.quotas.values()) refresh(agent, quota, now);
}
