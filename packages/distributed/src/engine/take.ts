import type { Agent } from "./agent.ts";
import { type Amounts, addTo, at, sizeOf } from "./amounts.ts";
import { capacityOf } from "./capacity.ts";
import { toleratedLag } from "./claim.ts";
import { pausedUntil } from "./level.ts";
import { FREE, type Permit } from "./modes/mode.ts";
import { modeOf } from "./modes/mode-of.ts";
import { noteCost, noteOwnCost, paceIn, spread } from "./pacing.ts";
import type { Quota } from "./quota.ts";
import { reportLargeUsage } from "./report-usage.ts";
import { noteChange } from "./schedule.ts";
import { noteStart } from "./slots.ts";
import { advance } from "./virtual-time.ts";

/** Decides whether a call of this cost may be sent now, and counts it if so. */
export function take(agent: Agent, quota: Quota, cost: Amounts, now: number): boolean {
  const capacity = capacityOf(agent, quota, now);
  const permit = permitIn(agent, quota, cost, capacity, now);
  if (!permit) return false;
  permit.spend(agent, quota, cost, now);
  // A call that needs no other right reuses a freed slot, if there is one.
  if (quota.slots && permit === FREE) quota.slots.freed = Math.max(0, quota.slots.freed - at(cost, 0));
  charge(agent, quota, cost, capacity, now);
  return true;
}

/** The permit for a call now. Enters the quota's mode, so only `step` may call it. */
export function permitIn(
  agent: Agent,
  quota: Quota,
  cost: Amounts,
  capacity: Amounts,
  now: number,
): Permit | undefined {
  if (now < pausedUntil(quota.backoff.level)) return undefined;
  const mode = modeOf(agent, quota, now);
  mode.enter(agent, quota, now);
  return mode.permit(agent, quota, cost, capacity, now);
}

/** True when `take` would allow a call of this cost now. Spends nothing: no claim, no virtual time, no usage. */
export function mayTake(agent: Agent, quota: Quota, cost: Amounts, now: number): boolean {
  if (now < pausedUntil(quota.backoff.level)) return false;
  return modeOf(agent, quota, now).permit(agent, quota, cost, capacityOf(agent, quota, now), now) !== undefined;
}

/** Charges a call: usage, pace, virtual time, and a report where peers must know of the call soon. */
function charge(agent: Agent, quota: Quota, cost: Amounts, capacity: Amounts, now: number): void {
  const { usage } = quota;
  const { debt } = agent.config.tuning;
  usage.swarm.add(now, cost);
  usage.own.add(now, cost);
  addTo(usage.spentTotal, cost);
  if (quota.slots) noteStart(quota, at(cost, 0), now);
  quota.pacing.lead.add(now, cost, paceIn(agent, quota, capacity));
  spread(agent, quota, cost, now);
  noteChange(agent, quota, now);
  usage.sentAt = now;
  noteCost(quota, cost);
  noteOwnCost(quota, cost);
  advance(
    quota.claims.virtualTime,
    sizeOf(cost, quota.limits) / agent.config.weight,
    debt / agent.membership.weights,
    toleratedLag(agent, quota),
  );
  reportLargeUsage(agent, quota, capacity, now);
}
