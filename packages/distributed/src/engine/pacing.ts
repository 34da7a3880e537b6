import type { Agent } from "./agent.ts";
import { type Amounts, at, scaled } from "./amounts.ts";
import { capacityOf } from "./capacity.ts";
import { levelAt } from "./level.ts";
import type { Quota } from "./quota.ts";
import { lagMsOf } from "./schedule.ts";
import { isPacedBySubWindow } from "./sub-windows.ts";

/** Shortest worthwhile wait: an agent retries once it may send more than this time's worth. */
const CRUMB_MS = 10;

/** Fraction of the lead that is available at once after a cut. */
const FIRST_PART = 0.1;
/** Weight of a call in the recent costs. */
const RECENT = 0.02;
/** Lower bound of the fraction of an estimate that calls are expected to use. */
const LEAST_PART = 0.02;

/** True when the swarm, plus the claims in `before`, is no further ahead of the steady pace than it may be. */
export function isInPace(agent: Agent, quota: Quota, before: Amounts | undefined, now: number): boolean {
  return inPaceAt(agent, quota, before, now) <= now;
}

/** Earliest time at which the swarm, plus the claims in `before`, is within its allowed lead over the steady pace. */
export function inPaceAt(agent: Agent, quota: Quota, before: Amounts | undefined, now: number): number {
  const lead = leadOf(agent, quota, now);
  if (!lead) return now;
  const perMs = paceOf(agent, quota, now);
  const ahead = quota.pacing.lead.at(now, perMs);
  let waitMs = 0;
  for (let i = 0; i < ahead.length; i++) {
    const claimed = before ? at(before, i) * settledPart(quota, i) : 0;
    const excess = at(ahead, i) + claimed - at(lead, i);
    if (excess > 0) waitMs = Math.max(waitMs, excess / at(perMs, i));
  }
  const spreadMs = quota.pacing.spreadUntil - CRUMB_MS - now;
  if (spreadMs > 0) waitMs = Math.max(waitMs, spreadMs, CRUMB_MS);
  return now + waitMs;
}

/**
 * Spreads own calls under contention: a claim over `spreadMs`, calls without a claim over the pace of the swarm.
 * Without it, all agents that are served at the same time would send at the same moment.
 */
export function spread(agent: Agent, quota: Quota, cost: Amounts, now: number): void {
  const lead = isContended(agent, quota, now) && leadOf(agent, quota, now);
  if (!lead) return;
  const perMs = quota.claims.own?.perMs ?? paceOf(agent, quota, now);
  let ms = 0;
  for (let i = 0; i < cost.length; i++)
    if (at(cost, i) > 0 && at(lead, i) < Infinity)
      ms = Math.max(ms, (at(cost, i) * settledPart(quota, i)) / at(perMs, i));
  quota.pacing.spreadUntil = Math.max(quota.pacing.spreadUntil, now) + ms;
}

/** The steady pace per millisecond: slightly faster than using up a window evenly. */
export function paceOf(agent: Agent, quota: Quota, now: number): number[] {
  return paceIn(agent, quota, capacityOf(agent, quota, now));
}

/** The steady pace for a known capacity. */
export function paceIn(agent: Agent, quota: Quota, capacity: Amounts): number[] {
  return scaled(capacity, agent.config.tuning.pace / quota.config.windowMs);
}

/** Credits the unused part of a call's estimate. */
export function returnToPace(agent: Agent, quota: Quota, amounts: Amounts, now: number): void {
  quota.pacing.lead.add(now, amounts, paceOf(agent, quota, now), true);
}

/** Allowed lead of the swarm over the pace: a second's worth under contention; undefined for no bound. */
export function leadOf(agent: Agent, quota: Quota, now: number): Amounts | undefined {
  if (quota.slots) return undefined;
  // Behind a slow bus more claims must be served at once, because peers learn late that a claim was served.
  const savedMs = agent.config.tuning.savedMs + lagMsOf(agent, quota);
  if (!isContended(agent, quota, now) && !isResuming(quota, savedMs, now)) return undefined;
  const level = levelAt(quota.backoff.level, now);
  const saved = savedPart(quota, savedMs, now);
  return paceOf(agent, quota, now).map((perMs, i) => {
    const lead = perMs * savedMs;
    // Calls larger than the lead cannot be paced, and a short sub-window is a pace of its own.
    const isPaced = at(quota.usage.typicalCost, i) * level <= lead && !isPacedBySubWindow(quota, i, 2 * savedMs);
    return isPaced ? lead * saved : Infinity;
  });
}

/**
 * The fraction of the lead that is available after a cut: the first calls show whether the level is low enough, so they
 * are few.
 */
function savedPart(quota: Quota, savedMs: number, now: number): number {
  return Math.min(1, Math.max(FIRST_PART, resumedPart(quota, savedMs, now)));
}

/** True after a measured cut until the swarm has resumed: calls that came during the pause must not be sent all at once. */
function isResuming(quota: Quota, savedMs: number, now: number): boolean {
  return resumedPart(quota, savedMs, now) < 1;
}

/** The part of the resumption after a measured cut that is over; negative before it, and at least 1 after it. */
function resumedPart({ backoff: { level } }: Quota, savedMs: number, now: number): number {
  return level.climb ? (now - level.cutAt - level.climb.holdMs) / (2 * savedMs) : 1;
}

/** True while a caller of some agent has waited longer than `contendedMs`. */
export function isContended({ config }: Agent, { pacing, demand }: Quota, now: number): boolean {
  return now < pacing.contendedUntil || now - demand.waitingSince > config.tuning.contendedMs;
}

/** The part of its estimate that a call uses, as recent calls did: 1 while nothing is known. */
function settledPart({ usage }: Quota, dimension: number): number {
  const cost = at(usage.recentCost, dimension);
  const part = cost > 0 ? 1 - at(usage.recentRefund, dimension) / cost : 1;
  return Math.max(LEAST_PART, Math.min(1, part));
}

/** Counts the estimate of an own call, as {@link settledPart} needs it. */
export function noteOwnCost({ usage: { recentCost, recentRefund } }: Quota, cost: Amounts): void {
  for (let i = 0; i < cost.length; i++) {
    recentCost[i] = at(recentCost, i) * (1 - RECENT) + at(cost, i);
    recentRefund[i] = at(recentRefund, i) * (1 - RECENT);
  }
}

/** Updates the typical cost: follows larger calls at once and smaller ones slowly. */
export function noteCost({ usage: { typicalCost } }: Quota, cost: Amounts): void {
  for (let i = 0; i < typicalCost.length; i++) {
    const more = at(cost, i) - at(typicalCost, i);
    typicalCost[i] = at(typicalCost, i) + (more > 0 ? more : more / 50);
  }
}
