import type { Agent } from "./agent.ts";
import { type Amounts, at } from "./amounts.ts";
import { availableOf } from "./capacity.ts";
import { headClaimOf } from "./claim.ts";
import type { OwnClaim, Quota } from "./quota.ts";
import { settleMsOf } from "./schedule.ts";
import { isBefore } from "./virtual-time.ts";

/**
 * True when a small call may be sent while the head claim waits for the capacity of a large one, as in backfill
 * scheduling: the call fits now, and enough capacity remains when the head claim can start.
 */
export function canBackfill(
  agent: Agent,
  quota: Quota,
  claim: OwnClaim,
  cost: Amounts,
  ahead: Amounts,
  now: number,
): boolean {
  const first = headClaimOf(quota);
  if (!first || !isBefore(first, claim)) return false;
  const { swarm } = quota.usage;
  const available = availableOf(agent, quota, now);
  const missing = first.next.map((amount, i) => amount - at(available, i));
  const startsAt = swarm.goneAt(missing);
  // The agent of the head claim may see more capacity: it may hold nothing for silent peers, and not know of all usage.
  const { safetyMargin } = agent.config.tuning;
  const { heldForSilent } = quota.isolation;
  const least = missing.map((amount, i) => amount - at(heldForSilent, i) - at(quota.limits, i) * safetyMargin);
  if (startsAt === Infinity || !least.some((amount) => amount > 0)) return false;
  // The agent of the head claim must have received the report of this call before its claim starts.
  if (swarm.goneAt(least) < now + settleMsOf(agent, quota)) return false;
  const { amounts } = first;
  const spare = swarm.goneBy(startsAt).map((gone, i) => gone + at(available, i) - at(amounts, i));
  for (let i = 0; i < cost.length; i++) {
    const others = at(ahead, i) - at(amounts, i);
    if (at(cost, i) + others > Math.min(at(available, i), at(spare, i))) return false;
  }
  return true;
}
