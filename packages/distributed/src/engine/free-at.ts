import type { Agent } from "./agent.ts";
import { type Amounts, addTo, at, copyOf, fits, minus, SLACK, sizeOf } from "./amounts.ts";
import { availableIn, availableOf, capacityOf, nextCapacityAt } from "./capacity.ts";
import { inPaceAt } from "./pacing.ts";
import type { Quota } from "./quota.ts";
import { slotFreeAt } from "./slots.ts";
import { subWindowsFreeAt } from "./sub-windows.ts";

/**
 * Time at which the capacity that a call lacks may become available: through expired usage, or the next step of a
 * recovery. `aside` is the capacity that others use first.
 */
export function shortfallEndsAt(agent: Agent, quota: Quota, cost: Amounts, aside: Amounts, now: number): number {
  const goneAt = expiryAt(agent, quota, cost, aside, now);
  return Math.min(goneAt, Math.max(now + 1, nextCapacityAt(quota, now)));
}

/** Time at which enough usage has left the window and all sub-windows for a call behind the amounts in `aside`. */
export function expiryAt(agent: Agent, quota: Quota, cost: Amounts, aside: Amounts, now: number): number {
  const missing = minus(cost, availableOf(agent, quota, now));
  addTo(missing, aside);
  const goneAt = quota.usage.swarm.goneAt(missing);
  if (quota.subWindows.all.length === 0) return goneAt;
  return Math.max(
    goneAt,
    subWindowsFreeAt(
      agent,
      quota,
      cost.map((amount, i) => amount + at(aside, i)),
      now,
    ),
  );
}

/**
 * Time at which enough usage has left the window for the cost and for `ahead`, and the pace allows the call; not before
 * `from`.
 */
export function freeAtFor(
  agent: Agent,
  quota: Quota,
  cost: Amounts,
  ahead: Amounts | undefined,
  from: number,
  now: number,
): number {
  if (quota.slots) return slotFreeAt(agent, quota, cost, ahead, from, now);
  const { windowMs } = quota.config;
  const { swarm } = quota.usage;
  const first = copyOf(cost);
  if (ahead) addTo(first, ahead);
  const capacity = capacityOf(agent, quota, from);
  // Amounts that exceed one window occupy further windows.
  const windows = fits(first, capacity) ? 0 : Math.max(0, sizeOf(minus(first, capacity), capacity));
  const present = from === now ? capacity : capacityOf(agent, quota, now);
  const available = availableIn(quota, present, now);
  const partsFreeAt = subWindowsFreeAt(agent, quota, first, now);
  const missing = first.slice();
  for (let i = 0; i < first.length; i++) {
    first[i] = Math.min(at(first, i), at(capacity, i));
    // The level, and with it the capacity, may be higher at `from`.
    available[i] = at(available, i) + (at(capacity, i) - at(present, i));
    missing[i] = at(first, i) - at(available, i) - SLACK;
  }
  const goneAt = fits(first, available) ? now : swarm.goneAt(missing);
  const expiredAt = Math.max(goneAt, partsFreeAt);
  const freeAt = Math.max(from, Math.min(expiredAt, now + swarm.longestMs));
  if (windows === 0) return Math.max(freeAt, inPaceAt(agent, quota, ahead, now));
  // Either each window is used up at once, or calls are sent at the steady pace: the later of the two.
  const pacedMs = sizeOf(ahead ?? [], capacity) * (windowMs / agent.config.tuning.pace);
  return freeAt + Math.max(Math.ceil(windows) * windowMs, pacedMs);
}
