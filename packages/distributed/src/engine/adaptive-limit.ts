/**
 * An adaptive limit on calls under way. The limit grows by one slot while all slots are in use and the provider refuses
 * nothing, and is cut once per congestion. All agents hold the same limit, in a register that they merge as the maximum
 * of a total order: a later cut, the deeper of two concurrent cuts, then more growth. Two agents that grow the limit at
 * the same time grow it once.
 */

import type { Agent } from "./agent.ts";
import { at } from "./amounts.ts";
import type { Quota } from "./quota.ts";
import { noteChange, repeatsOf, reportBy } from "./schedule.ts";

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

/** The fraction of the limit that a cut leaves. */
const CUT_TO = 0.85;
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
 * Grows the limit by one slot when demand uses up the limit and the limit has not changed for a typical call duration.
 */
export function growLimit(agent: Agent, quota: Quota, now: number): void {
  const { slots, usage, demand, claims, limits } = quota;
  const { adaptive } = slots ?? {};
  if (!slots || !adaptive) return;
  const limit = adaptiveLimitOf(quota);
  const isWanted = demand.next !== undefined || claims.others.size > 0;
  // A slot that passes from one call to the next is free for a moment, so one free slot still counts as full use.
  if (!isWanted || at(usage.swarm.sum, 0) < limit - 1 || limit >= at(limits, 0)) return;
  if (now - adaptive.changedAt < Math.max(LEAST_STEP_MS, slots.callMs ?? 0)) return;
  // The configured bounds may differ between agents, so the step starts at the bounded limit, not at `base + steps`.
  change(agent, quota, { ...adaptive, steps: limit - adaptive.base + 1 }, now);
}

/** Cuts the limit, unless the refused call was sent before this agent learned of the latest cut. */
export function cutLimit(agent: Agent, quota: Quota, sentAt: number, now: number): void {
  const { slots, config } = quota;
  if (!slots?.adaptive || !config.adaptive || sentAt <= slots.cutAt) return;
  const base = Math.max(config.adaptive.min, Math.floor(adaptiveLimitOf(quota) * CUT_TO));
  slots.cutAt = now;
  change(agent, quota, { epoch: slots.adaptive.epoch + 1, base, steps: 0 }, now);
}

/** Merges the register of a peer. Returns true when it supersedes the known one. */
export function mergeLimit({ slots }: Quota, received: AdaptiveLimit, now: number): boolean {
  if (!slots?.adaptive || !isLater(received, slots.adaptive)) return false;
  if (received.epoch > slots.adaptive.epoch) slots.cutAt = now;
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
