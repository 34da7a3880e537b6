import { endDemand } from "./agenda.ts";
import type { Agent } from "./agent.ts";
import { type Amounts, zeros } from "./amounts.ts";
import { withdrawClaim } from "./claim.ts";
import { requestGrant } from "./grant.ts";
import { modeOf } from "./modes/mode-of.ts";
import type { Quota } from "./quota.ts";
import { announceFreed } from "./slots.ts";

/** Sets the demand of the calls waiting at this agent, and claims it or requests it from the store. */
export function want(
  agent: Agent,
  quota: Quota,
  next: Amounts | undefined,
  all: Amounts | undefined,
  now: number,
): void {
  const { demand } = quota;
  demand.next = next;
  demand.all = all ?? next ?? zeros(quota.limits.length);
  if (!next) {
    endDemand(agent.agenda, quota);
    demand.waitingSince = Infinity;
    withdrawClaim(agent, quota, now);
    announceFreed(agent, quota, now);
    return;
  }
  agent.agenda.demanding.add(quota);
  agent.agenda.touched.add(quota);
  if (demand.waitingSince === Infinity) demand.waitingSince = now;
  if (agent.store?.isStore) requestGrant(agent, quota, next, now);
  else modeOf(agent, quota, now).pursue(agent, quota, next, now);
}
