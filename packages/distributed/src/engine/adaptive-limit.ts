/**
 * An adaptive limit on calls under way. The limit grows by a step while all slots are in use and the provider refuses
 * nothing, and is cut once per congestion, by the fraction of calls that the provider refuses. All agents hold the same limit, in a register that they merge as the maximum
 * of a total order: a later cut, the deeper of two concurrent cuts, then more growth. Two agents that grow the limit at
 * the same time grow it once.
 */

import type { Agent } from "./agent.ts";
import { at } from "./amounts.ts";
import type { Quota } from "./quota.ts";
import { noteChange, repeatsOf, reportBy } from "./schedule.ts";
import type { Slots } from "./slots.ts";

/** Configured bounds of an adaptive limit. The upper bound is the limit of the quota. */
export interface AdaptiveConfig {
  readonly min: number;
  readonly start: number;
}

/** The register that agents share, in whole slots. */
export interface AdaptiveLimit {
  /** Number of cuts. */
  readonly epoch: number;
  /** The limit right after the latest cut, or the first limit. */
  readonly base: number;
  /** Number of slots by which the limit has grown since the latest cut. */
  readonly steps: number;
  /** Time of the latest change of the limit, on this agent's clock. Messages carry an age instead. */
  readonly changedAt: number;
}

/**
 * The fraction of the limit that a cut takes: the recent fraction of refused calls, up to this one. A provider that refuses
 * few calls, for another reason than their number, therefore costs few slots, as congestion control with marked packets
 * does it (DCTCP).
 */
const LARGEST_CUT = 0.15;
/** The fraction of refused calls below which refusals that growth has not caused take no slots. */
const FEW = 0.05;
/** Weight of the latest call in the recent fraction of refused calls. */
const LATEST = 0.05;
/** Steps for which the limit stays just below the one at which calls were refused. */
const HOLD = 8;
/** Fraction of the limit by which one step grows it, at least one slot. */
const STEP = 1 / 32;
/** Lower bound of the time between two steps; a longer typical call duration takes its place. */
const LEAST_STEP_MS = 500;

export function newAdaptiveLimit({ start }: AdaptiveConfig, now: number): AdaptiveLimit {
  return { epoch: 0, base: start, steps: 0, changedAt: now };
}

/** The present limit of a quota in slots, within this agent's bounds; Infinity for a limit that does not adapt. */
export function adaptiveLimitOf({ config: { adaptive, limits }, slots }: Quota): number {
  if (!adaptive || !slots?.adaptive) return Infinity;
  const { base, steps } = slots.adaptive;
  return Math.min(at(limits, 0), Math.max(adaptive.min, base + steps));
}

/** The present limit that reports of several agents state in slots; Infinity when none of them adapts. */
export function reportedLimit(reports: Iterable<{ readonly adaptive?: AdaptiveLimit | undefined }>): number {
  let latest: AdaptiveLimit | undefined;
  for (const { adaptive } of reports) if (adaptive && (!latest || isLater(adaptive, latest))) latest = adaptive;
  return latest ? latest.base + latest.steps : Infinity;
}

/**
 * Grows the limit by a step when demand uses up the limit and the limit has not changed for a typical call duration.
 */
export function growLimit(agent: Agent, quota: Quota, now: number): void {
  const { slots, usage, demand, claims, limits } = quota;
  const { adaptive } = slots ?? {};
  if (!slots || !adaptive) return;
  const limit = adaptiveLimitOf(quota);
  const isWanted = demand.next !== undefined || claims.others.size > 0;
  // A slot that passes from one call to the next is free for a moment, so one free slot still counts as full use.
  if (!isWanted || at(usage.swarm.sum, 0) < limit - 1 || limit >= at(limits, 0)) return;
  const most = stepBelow(limit, slots.congestedAt);
  const stepMs = Math.max(LEAST_STEP_MS, slots.callMs ?? 0) * (most === 0 ? HOLD : 1);
  if (now - adaptive.changedAt < stepMs) return;
  // The configured bounds may differ between agents, so the step starts at the bounded limit, not at `base + steps`.
  const step = Math.min(most || 1, Math.max(1, Math.floor(limit * STEP)));
  change(agent, quota, { ...adaptive, steps: Math.min(limit + step, at(limits, 0)) - adaptive.base }, now);
}

/** Number of slots by which the limit may grow until it is one below the congested one; Infinity above that. */
function stepBelow(limit: number, congestedAt: number): number {
  return limit < congestedAt ? congestedAt - 1 - limit : Infinity;
}

/**
 * Remembers the limit at which calls were refused, before it is cut. Returns true when the refusal follows a cut without any
 * growth: the limit was not the cause, or the capacity has fallen. Then no limit is remembered.
 */
function noteCongestion(quota: Quota, slots: Slots): boolean {
  const limit = adaptiveLimitOf(quota);
  const isRepeated = slots.congestedAt < Infinity && limit < slots.congestedAt && slots.adaptive?.steps === 0;
  slots.congestedAt = isRepeated ? Infinity : limit;
  return isRepeated;
}

/** Counts calls that have ended without a refusal. */
export function noteAnswered(slots: Slots, count: number): void {
  slots.refusedPart *= (1 - LATEST) ** count;
}

/** Counts a refused call, and cuts the limit, unless the refused call was sent before this agent learned of the latest cut. */
export function cutLimit(agent: Agent, quota: Quota, sentAt: number, now: number): void {
  const { slots, config } = quota;
  if (!slots?.adaptive || !config.adaptive) return;
  const { refusedPart } = slots;
  slots.refusedPart += LATEST * (1 - refusedPart);
  if (sentAt <= slots.cutAt) return;
  const limit = adaptiveLimitOf(quota);
  const cut = Math.max(1, Math.round(limit * Math.min(LARGEST_CUT, refusedPart)));
  const base = Math.max(config.adaptive.min, limit - cut);
  if (noteCongestion(quota, slots) && refusedPart < FEW) return;
  slots.cutAt = now;
  change(agent, quota, { epoch: slots.adaptive.epoch + 1, base, steps: 0 }, now);
}

/** Merges the register of a peer. Returns true when it supersedes the known one. */
export function mergeLimit(quota: Quota, received: AdaptiveLimit, now: number): boolean {
  const { slots } = quota;
  if (!slots?.adaptive || !isLater(received, slots.adaptive)) return false;
  if (received.epoch > slots.adaptive.epoch) {
    noteCongestion(quota, slots);
    slots.cutAt = now;
  }
  slots.adaptive = received;
  return true;
}

function isLater(a: AdaptiveLimit, b: AdaptiveLimit): boolean {
  return (a.epoch - b.epoch || b.base - a.base || a.steps - b.steps) > 0;
}

function change(agent: Agent, quota: Quota, adaptive: Omit<AdaptiveLimit, "changedAt">, now: number): void {
  if (!quota.slots) return;
  quota.slots.adaptive = { ...adaptive, changedAt: now };
  noteChange(agent, quota, now);
  reportBy(agent, quota, now, repeatsOf(agent, quota), true);
}
