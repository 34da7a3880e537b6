import { adaptiveLimitOf } from "./adaptive-limit.ts";
import { type Agent, isOneOfSeveral } from "./agent.ts";
import { type Amounts, at, sizeOf } from "./amounts.ts";
import { levelAt, nextStepAt } from "./level.ts";
import type { Quota } from "./quota.ts";
import { limitToSubWindows, lowerToSubWindows } from "./sub-windows.ts";

/** Bound of a probe: `NEAR` times the usage, plus `NEARBY` of the limit. */
const NEAR = 1.25;
const NEARBY = 0.1;
/** Number of steps per window in which the capacity rises during a probe. */
const RISES = 200;

/** The amounts that the swarm may use in a window now: the limits, less the safety margin, at the backoff level. */
export function capacityOf(agent: Agent, quota: Quota, now: number): number[] {
  const margin = safetyMarginOf(agent, quota, now);
  const level = triedLevel(quota, levelAt(quota.backoff.level, now), now);
  const { limits: configured, rules } = quota.config;
  // The capacity is computed for every decision; a copy and a loop are faster than a closure.
  const capacity = quota.limits.slice();
  for (let i = 0; i < capacity.length; i++) {
    const limit = at(capacity, i);
    // The configured minimum holds at any level and for any limits that peers have configured.
    const minimum = Math.min(limit, at(configured, i) * rules.levelMin);
    // The margin is rounded down: a limit of 3 has nothing to spare.
    capacity[i] = Math.max((limit - Math.floor(limit * margin)) * level, minimum);
  }
  if (quota.config.adaptive) capacity[0] = Math.min(at(capacity, 0), adaptiveLimitOf(quota));
  return capacity;
}

/**
 * The level that may be used now. A probe beyond the last good level stays near the usage of the swarm for up to one
 * window. Otherwise a window that has emptied meanwhile would be filled at full speed, and many calls be refused before
 * all agents know of the first refusal.
 */
function triedLevel({ backoff, usage, limits, config }: Quota, level: number, now: number): number {
  const { climb, cutAt } = backoff.level;
  if (!climb || level <= climb.good) return level;
  // The bound also rises with time, so that calls too large for the bound by usage are sent eventually.
  const byTime = climb.good + (now - cutAt - climb.probeMs) / config.windowMs;
  const byUsage = NEAR * Math.max(0, sizeOf(usage.swarm.sum, limits)) + NEARBY;
  return Math.min(level, Math.max(climb.good, byTime, byUsage));
}

/** Time at which the capacity next rises, apart from usage; Infinity when no rise is scheduled. */
export function nextCapacityAt({ backoff: { level }, config: { windowMs } }: Quota, now: number): number {
  const stepAt = nextStepAt(level, now);
  const { climb, cutAt } = level;
  if (stepAt < Infinity || !climb) return stepAt;
  // The level has fully recovered, but the bound of the probe still rises with time.
  const wholeAt = cutAt + climb.probeMs + Math.max(0, 1 - climb.good) * windowMs;
  return now < wholeAt ? Math.min(wholeAt, now + windowMs / RISES) : Infinity;
}

/** The largest cost that a window, and every configured sub-window, can hold at the full level. */
export function largestCost(agent: Agent, quota: Quota): number[] {
  const margin = isOneOfSeveral(agent) ? agent.config.tuning.safetyMargin : 0;
  const largest = quota.limits.slice();
  lowerToSubWindows(largest, quota);
  if (margin > 0)
    for (let i = 0; i < largest.length; i++) largest[i] = at(largest, i) - Math.floor(at(largest, i) * margin);
  return largest;
}

/**
 * The safety margin. Newcomers count usage for too long, so established agents leave twice the margin while there are
 * newcomers.
 */
function safetyMarginOf(agent: Agent, { config, history }: Quota, now: number): number {
  if (!isOneOfSeveral(agent)) return 0;
  const isNewcomer = now - agent.startedAt < config.windowMs;
  return agent.config.tuning.safetyMargin * (now < history.newcomersUntil && !isNewcomer ? 2 : 1);
}

/** The capacity that is neither used nor held free for silent or observing peers. Negative after a cut. */
export function availableOf(agent: Agent, quota: Quota, now: number): number[] {
  return availableIn(quota, capacityOf(agent, quota, now), now);
}

/** The same for a known capacity. */
export function availableIn(quota: Quota, capacity: Amounts, now: number): number[] {
  const available = capacity.slice();
  const { swarm, own } = quota.usage;
  swarm.expire(now);
  own.expire(now);
  // A refund and the usage that it corrects may leave the swarm's window at different times; the own sum is exact.
  for (let i = 0; i < available.length; i++) {
    const held = at(quota.isolation.heldForSilent, i) + at(quota.heldForObservers, i);
    available[i] = at(available, i) - Math.max(at(swarm.sum, i), at(own.sum, i)) - held;
  }
  return available;
}

/** The amounts that are available in the window and in all sub-windows. */
export function sendableOf(agent: Agent, quota: Quota, now: number): number[] {
  return sendableIn(agent, quota, capacityOf(agent, quota, now), now);
}

/** The same for a known capacity. */
export function sendableIn(agent: Agent, quota: Quota, capacity: Amounts, now: number): number[] {
  const available = availableIn(quota, capacity, now);
  if (quota.subWindows.all.length > 0) limitToSubWindows(agent, quota, available, now);
  return available;
}
