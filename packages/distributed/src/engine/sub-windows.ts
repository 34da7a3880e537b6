import { type Agent, isOneOfSeveral } from "./agent.ts";
import { type Amounts, at, SLACK } from "./amounts.ts";
import { dimensionsOf } from "./dimensions.ts";
import type { Quota } from "./quota.ts";
import { type Spread, spreadUntil } from "./spread.ts";
import type { UsageWindow } from "./usage-window.ts";

/**
 * Limits over a window shorter than that of the quota: a provider may enforce 600 calls a minute as 10 a second. One claim
 * covers the quota with all of its sub-windows.
 */
export interface SubWindowConfig {
  readonly windowMs: number;
  /** Limits in the order of the quota's dimensions; Infinity for a dimension without a limit in this window. */
  readonly limits: Amounts;
}

/** A sub-window with its usage. */
export interface SubWindow extends SubWindowConfig {
  /** Learned from refusals. A call larger than such a limit is sent alone. */
  readonly isLearned: boolean;
  /** Usage of all agents and of this one: every change of the quota's usage is a change of these, too. */
  readonly swarm: UsageWindow;
  readonly own: UsageWindow;
}

/** The sub-windows of a quota, and the settings that they were built from. */
export interface SubWindows {
  all: readonly SubWindow[];
  configured: readonly SubWindowConfig[] | undefined;
  spread: Spread | undefined;
  limits: Amounts;
  /** The learned sub-window is forgotten then. */
  until: number;
}

const NONE: readonly SubWindow[] = [];

export function newSubWindows(): SubWindows {
  return { all: NONE, configured: undefined, spread: undefined, limits: [], until: Infinity };
}

/** Applies changed settings, and forgets a learned sub-window in time. */
export function refreshSubWindows(quota: Quota, now: number): void {
  const { subWindows, config, backoff, limits } = quota;
  const { spread } = backoff.level;
  const isSame =
    subWindows.configured === config.subWindows &&
    subWindows.spread === spread &&
    (subWindows.limits === limits || spread === undefined) &&
    now < subWindows.until;
  if (!isSame) rebuild(quota, now);
}

function rebuild(quota: Quota, now: number): void {
  const { subWindows, config, backoff, usage, limits } = quota;
  const { spread } = backoff.level;
  const untilMs = spread ? spreadUntil(spread) : Infinity;
  const learned = spread && now < untilMs ? learnedWindow(quota, spread) : undefined;
  const before = subWindows.all;
  subWindows.all = [...(config.subWindows ?? []), ...(learned ? [learned] : [])].map((of) => {
    const known = before.find(({ windowMs }) => windowMs === of.windowMs);
    const [swarm, own] = known
      ? [known.swarm, known.own]
      : [usage.swarm, usage.own].map((all) => all.within(of.windowMs, now));
    return { ...of, isLearned: of === learned, swarm: swarm as UsageWindow, own: own as UsageWindow };
  });
  usage.swarm.parts = subWindows.all.map(({ swarm }) => swarm);
  usage.own.parts = subWindows.all.map(({ own }) => own);
  subWindows.configured = config.subWindows;
  subWindows.spread = spread;
  subWindows.limits = limits;
  subWindows.until = learned ? untilMs : Infinity;
}

/** The limits of a learned sub-window: the proportional part of the limits of the quota. */
function learnedWindow({ config, limits }: Quota, { windowMs, dimensions }: Spread): SubWindowConfig | undefined {
  if (windowMs >= config.windowMs) return undefined;
  const names = dimensionsOf(config);
  const part = windowMs / config.windowMs;
  return {
    windowMs,
    limits: limits.map((limit, i) =>
      dimensions.includes(names[i] as string) ? Math.max(1, Math.floor(limit * part + SLACK)) : Infinity,
    ),
  };
}

/** The largest cost that all configured sub-windows can hold. */
export function lowerToSubWindows(amounts: number[], { config }: Quota): void {
  for (const { limits } of config.subWindows ?? [])
    for (let i = 0; i < amounts.length; i++) amounts[i] = Math.min(at(amounts, i), at(limits, i));
}

/** Limits available amounts to the amounts that every sub-window can still hold. */
export function limitToSubWindows(agent: Agent, quota: Quota, available: number[], now: number): void {
  for (const subWindow of quota.subWindows.all) {
    const { swarm, own } = subWindow;
    swarm.expire(now);
    own.expire(now);
    for (let i = 0; i < available.length; i++) {
      const limit = limitOf(agent, quota, subWindow, i);
      if (limit < Infinity)
        available[i] = Math.min(at(available, i), limit - Math.max(at(swarm.sum, i), at(own.sum, i)));
    }
  }
}

/** The effective limit in one dimension. */
function limitOf(agent: Agent, { usage, demand }: Quota, { limits, isLearned }: SubWindow, i: number): number {
  const configured = at(limits, i);
  if (configured === Infinity) return Infinity;
  const limit = isOneOfSeveral(agent)
    ? configured - Math.floor(configured * agent.config.tuning.safetyMargin)
    : configured;
  return isLearned ? Math.max(limit, at(usage.typicalCost, i), demand.next ? at(demand.next, i) : 0) : limit;
}

/** Time at which all sub-windows can hold these amounts, if nothing else is sent; `now` without sub-windows. */
export function subWindowsFreeAt(agent: Agent, quota: Quota, amounts: Amounts, now: number): number {
  let freeAt = now;
  for (const subWindow of quota.subWindows.all) {
    const { swarm, windowMs } = subWindow;
    let further = 0;
    const missing = amounts.map((amount, i) => {
      const limit = limitOf(agent, quota, subWindow, i);
      if (limit === Infinity || amount <= 0) return -Infinity;
      // Amounts that exceed one window occupy further windows.
      further = Math.max(further, (amount - limit) / limit);
      return Math.min(amount, limit) - (limit - at(swarm.sum, i)) - SLACK;
    });
    const goneAt = swarm.goneAt(missing);
    freeAt = Math.max(freeAt, Math.min(goneAt, now + swarm.longestMs) + Math.ceil(further) * windowMs);
  }
  return freeAt;
}

/**
 * Time at which this agent's part of the sub-windows can hold a call; `now` if it can at once. For modes in which an agent
 * knows only its own usage: an empty sub-window holds one call of any size.
 */
export function ownSubWindowsFreeAt(quota: Quota, part: Amounts, cost: Amounts, now: number): number {
  let freeAt = now;
  for (const { own, limits } of quota.subWindows.all) {
    own.expire(now);
    const missing = cost.map((amount, i) => {
      const limit = at(limits, i) * at(part, i);
      const used = at(own.sum, i);
      if (!(limit < Infinity) || amount <= 0 || used <= SLACK) return -Infinity;
      return Math.min(used, used + amount - limit) - SLACK;
    });
    freeAt = Math.max(freeAt, Math.min(own.goneAt(missing), now + own.longestMs));
  }
  return freeAt;
}

/** Size of the smallest sub-window, as a fraction of the limits, and its length; undefined without sub-windows. */
export function smallestSubWindow(quota: Quota): { readonly part: number; readonly windowMs: number } | undefined {
  let smallest: { part: number; windowMs: number } | undefined;
  for (const { limits, windowMs } of quota.subWindows.all) {
    const part = Math.min(1, ...limits.map((limit, i) => limit / at(quota.limits, i)));
    if (!smallest || part < smallest.part) smallest = { part, windowMs };
  }
  return smallest;
}

/** True for a dimension that a sub-window of at most `ms` limits, so that it needs no further pace. */
export function isPacedBySubWindow({ subWindows }: Quota, dimension: number, ms: number): boolean {
  return subWindows.all.some(({ windowMs, limits }) => windowMs <= ms && at(limits, dimension) < Infinity);
}
