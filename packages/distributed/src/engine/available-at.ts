import type { Agent } from "./agent.ts";
import { type Amounts, fits } from "./amounts.ts";
import { capacityOf, nextCapacityAt } from "./capacity.ts";
import { pausedUntil } from "./level.ts";
import { modeOf } from "./modes/mode-of.ts";
import type { Quota } from "./quota.ts";
import { mayTake } from "./take.ts";

/** Bounds the search for the recovery step at which the capacity is large enough. */
const MOST_STEPS = 500;

/**
 * When a call could be sent behind own calls that take `ahead`, provided no further demand arrives; `now` when the call
 * could be sent at once. The whole limit must hold the cost. Exact for an agent that is alone; an estimate among
 * others, because their demand is not known in advance.
 */
export function availableAt(
  agent: Agent,
  quota: Quota,
  cost: Amounts,
  ahead: Amounts | undefined,
  now: number,
): number {
  if (!ahead && mayTake(agent, quota, cost, now)) return now;
  const largeAt = largeEnoughAt(agent, quota, cost, now);
  const freeAt = Math.max(pausedUntil(quota.backoff.level), largeAt);
  const at = modeOf(agent, quota, now).availableAt(agent, quota, cost, ahead, freeAt, now);
  // An estimate must not contradict the decision: a call that is denied now is available later.
  return ahead ? at : Math.max(at, now + 1);
}

/** Time at which the level has recovered enough for a window to hold the cost. */
function largeEnoughAt(agent: Agent, quota: Quota, cost: Amounts, now: number): number {
  let time = now;
  for (let i = 0; i < MOST_STEPS; i++) {
    if (fits(cost, capacityOf(agent, quota, time))) return time;
    const nextAt = nextCapacityAt(quota, time);
    // At the full level only the safety margin, which is larger while there are newcomers, can exclude the call.
    if (nextAt === Infinity) return time;
    time = nextAt;
  }
  return time;
}
