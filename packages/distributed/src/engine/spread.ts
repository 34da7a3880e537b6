import { at } from "./amounts.ts";
import { dimensionsOf } from "./dimensions.ts";
import type { Level } from "./level.ts";
import type { Quota } from "./quota.ts";

/**
 * A shorter window over which the provider was seen to enforce its limits: calls were refused although the window had
 * capacity. Part of the level register, so that all agents spread their calls in the same way. Agents merge it by a total
 * order of its own, whatever happens to the level.
 */
export interface Spread {
  /** Names of the limits that are enforced over `windowMs`. */
  readonly dimensions: readonly string[];
  readonly windowMs: number;
  /** Usage of the whole window at the refusal, as a fraction of the limit. */
  readonly used: number;
  /** Time of the refusal, on this agent's clock. Messages carry the age instead. */
  readonly at: number;
  /** The sub-window is forgotten after this time. Doubles each time that it has to be learned again. */
  readonly stayMs: number;
}

/**
 * Fractions of the window that are considered as sub-windows: 10 s, 5 s, 2 s and 1 s of a minute. Longer ones would hold only
 * a little more, and a wrong one keeps all agents waiting until it has emptied.
 */
const PARTS = [1 / 6, 1 / 12, 1 / 30, 1 / 60];
/** No sub-window is shorter: agents learn too late of each other's calls. */
const SHORTEST_MS = 1_000;
/** Fraction of a sub-window's limit that was used when its provider refused. Usage of peers is known a little too late. */
const NEAR_FULL = 0.8;
/** Usage of a sub-window above the mean of the window. Evenly spread calls are not refused because of a shorter window. */
const BURST = 1.2;
/** Fraction of the window's limit up to which it has room: a refusal is then not explained by the whole window. */
const ROOM = 0.8;
/** A second refusal at nearly the usage of the first shows a lower limit rather than a shorter window. */
const ALIKE = 0.15;
/** Below this usage, two refusals are alike by chance. */
export const LITTLE = 0.15;
/** Windows after a measured cut in which a refusal shows the rate of the provider rather than a shorter window. */
const FORGET_WINDOWS = 3;
/** Windows after which a sub-window that was learned for the first time is forgotten, and the longest time. */
const FIRST_STAY_WINDOWS = 10;
export const LONGEST_STAY_MS = 86_400_000;

/** Time at which a sub-window is forgotten. */
export function spreadUntil({ at: since, stayMs }: Spread): number {
  return since + stayMs;
}

/** Merges by a total order: learned more often, then shorter. Of equal ones the earlier start counts, as with levels. */
export function mergedSpread(ours: Spread | undefined, received: Spread | undefined): Spread | undefined {
  if (!ours || !received) return ours ?? received;
  const order =
    received.stayMs - ours.stayMs ||
    ours.windowMs - received.windowMs ||
    received.used - ours.used ||
    compareNames(received, ours);
  if (order !== 0) return order > 0 ? received : ours;
  return received.at < ours.at ? received : ours;
}

function compareNames(a: Spread, b: Spread): number {
  const [one, other] = [a.dimensions.join(" "), b.dimensions.join(" ")];
  return one === other ? 0 : one > other ? 1 : -1;
}

/**
 * The sub-window that explains a refusal of a call sent at `sentAt`; undefined when none does. A sub-window explains it when
 * the whole window had room, and the usage of the sub-window was about its part of the limit. The longest such sub-window is
 * chosen, because it delays the fewest calls.
 */
export function learnSpread(quota: Quota, sentAt: number, now: number): Spread | undefined {
  const { config, usage, backoff, limits } = quota;
  const { windowMs } = config;
  if (isMeasured(backoff.level, windowMs, now)) return undefined;
  const known = backoff.level.spread;
  const holds = known !== undefined && now < spreadUntil(known);
  const inWindow = usage.swarm.between(sentAt - windowMs, sentAt);
  const filled = inWindow.map((amount, i) => amount / at(limits, i));
  const used = Math.max(...filled);
  if (used > ROOM || (holds && isAlike(used, known.used))) return undefined;
  const longestMs = holds ? known.windowMs - 1 : windowMs;
  for (const part of PARTS) {
    const shortMs = part * windowMs;
    if (shortMs > longestMs || shortMs < SHORTEST_MS) continue;
    const recent = usage.swarm.between(sentAt - shortMs, sentAt);
    const full = limits.map((limit, i) => {
      // A sub-window must hold at least one typical call.
      const isLarge = at(usage.typicalCost, i) > limit * part;
      return !isLarge && at(recent, i) >= Math.max(NEAR_FULL, BURST * at(filled, i)) * limit * part;
    });
    if (!full.includes(true)) continue;
    const names = dimensionsOf(config).filter((_, i) => full[i] === true);
    const dimensions = holds ? [...new Set([...known.dimensions, ...names])].sort() : [...names].sort();
    const firstMs = FIRST_STAY_WINDOWS * windowMs;
    const stayMs = known === undefined ? firstMs : holds ? known.stayMs : 2 * known.stayMs;
    return { dimensions, windowMs: shortMs, used, at: now, stayMs: Math.min(LONGEST_STAY_MS, stayMs) };
  }
  return undefined;
}

/** True while the limit is known from a recent cut: to the usage accepted before it, or further down. */
function isMeasured({ climb, levelAtCut, cutAt }: Level, windowMs: number, now: number): boolean {
  // A cut that a shorter window explains climbs to the full level.
  if (!climb || climb.good === 1 || now - cutAt > FORGET_WINDOWS * windowMs) return false;
  return climb.failures > 0 || climb.good > levelAtCut;
}

function isAlike(used: number, before: number): boolean {
  return used > LITTLE && Math.abs(used - before) <= ALIKE * before;
}
