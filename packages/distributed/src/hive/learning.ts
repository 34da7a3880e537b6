import type { LimitObservation, ObservedLimit } from "@hivepace/core";
import { at, type Quota, swarmUsageOf } from "../engine/index.ts";
import type { Member } from "../limiter/member.ts";
import { DIMENSIONS } from "./amounts-of.ts";
import type { HiveDimension } from "./hive-types.ts";
import { CONFIGURED, isWindow, NAMES } from "./limits.ts";
import type { Limited, ModelScope, Share, Target } from "./target.ts";
import type { Targets } from "./targets.ts";

/** Smaller differences, as a fraction of a limit, are noise: requests in flight, rounded counts. */
const NOISE = 0.02;
/** Answers to requests sent this soon after a cut prove nothing: the provider may still count earlier requests. */
const SETTLED_MS = 5_000;
/**
 * Upper bound of the difference between the provider's time of a request and this agent's: transit, and late reports of
 * peers.
 */
const APART_MS = 2_000;
/** The window of limits in headers that do not state one. */
const MINUTE_MS = 60_000;

/**
 * Compares the limits that an answer reports with the knowledge of this agent:
 * - an unconfigured limit is adopted, and follows when it changes; of a configured one the smaller counts;
 * - less capacity left than expected means usage outside the swarm, which is counted;
 * - as much capacity left as the whole limit allows ends a recovery in steps.
 *
 * Returns true when a limit was learned: waiting calls have to claim it as well.
 */
export function learnFrom(
  target: Target,
  observation: LimitObservation,
  member: Member,
  targets: Targets,
  windowMs: number,
  now: number,
): boolean {
  const { limits, model } = observation;
  // An answer about one model is no evidence about the others.
  const scope = targets.useModel(target, model, now);
  const learner: Learner = scope ?? target;
  let isNew = false;
  let lowered: Learner | undefined;
  let isLowered = false;
  const lower = (dimension: HiveDimension, observed: ObservedLimit, configured: number): boolean => {
    const { limit = 0, windowMs: window = MINUTE_MS } = observed;
    // A window that is longer than the configured one is another limit.
    if (!(limit > 0) || window > windowMs) return false;
    const isLower = window < windowMs || limit < configured;
    lowered = isLower ? targets.lowerScope(target, model, now) : (scope ?? target);
    if (isLower) {
      const isChanged = learnLimit(lowered, dimension, { limit, windowMs: window }, windowMs);
      isLowered ||= isChanged;
      return isChanged;
    }
    const { [dimension]: known } = lowered.learned;
    delete lowered.learned[dimension];
    return known !== undefined;
  };
  for (const dimension of DIMENSIONS) {
    const observed = limits[NAMES[dimension]];
    if (!observed) continue;
    const configured = target.count[CONFIGURED[dimension]];
    if (
      configured === Infinity
        ? learnLimit(learner, dimension, observed, windowMs)
        : lower(dimension, observed, configured)
    )
      isNew = true;
  }
  if (isNew) for (const changed of lowered ? [learner, lowered] : [learner]) targets.shareOut(changed);
  // An answer shows the requests of a window, and never the calls under way.
  const rates = target.shares.filter(({ isSlots }) => !isSlots);
  for (const share of scope?.shares ?? []) {
    const within = rates.find(({ quota }) => quota.config.windowMs === share.quota.config.windowMs);
    compare(share, within, observation, member, isLowered, now);
  }
  for (const share of rates) compare(share, undefined, observation, member, isLowered, now);
  return isNew;
}

type Learner = Target | ModelScope;

/** Learns one limit. Some providers write `-1` or 0 for "no limit". */
function learnLimit(
  { learned }: Limited,
  dimension: HiveDimension,
  observed: ObservedLimit,
  windowMs: number,
): boolean {
  const { limit } = observed;
  if (limit === undefined || !(limit > 0 && Number.isFinite(limit))) return false;
  const known = learned[dimension];
  const window = observed.windowMs ?? known?.windowMs ?? windowMs;
  if (!isWindow(window)) return false;
  if (known?.limit === limit && known.windowMs === window) return false;
  learned[dimension] = { limit, windowMs: window };
  return true;
}

/**
 * `within`: a share that counts the same calls among others. `isLowered`: the answer has lowered a limit, so it does not show
 * that the limit from before is available.
 */
function compare(
  share: Share,
  within: Share | undefined,
  { limits, sentAgoMs = 0 }: LimitObservation,
  member: Member,
  isLowered: boolean,
  now: number,
): void {
  const { quota, dimensions } = share;
  const { windowMs } = quota.config;
  // Usage of that age has left the window.
  if (!(sentAgoMs >= 0 && sentAgoMs < windowMs)) return;
  const usage = swarmUsageOf(quota, now);
  const sentAt = now - sentAgoMs;
  const known = lazily(() => knownAt(quota, sentAt));
  let isWhole = false;
  let isLess = false;
  const missing = dimensions.map((dimension, i) => {
    const observed = limits[NAMES[dimension]];
    const window = observed?.windowMs ?? windowMs;
    if (observed?.limit === undefined || observed.remaining === undefined || window !== windowMs) return 0;
    const noise = NOISE * observed.limit;
    const counted = observed.limit - observed.remaining;
    let more = counted - at(usage, i);
    if (more > noise) more = counted - at(known(), i);
    if (more > noise) {
      isLess = true;
      // Where nothing is left, the provider may have counted more than its limit: up to everything that was sent.
      if (observed.remaining <= 0) more = Math.max(more, usageWithin(within, dimension, now) - at(known(), i));
    }
    // Only the full limit, without usage outside the swarm, ends a cut.
    else if (observed.limit >= at(quota.config.limits, i) && observed.remaining > 0) isWhole = true;
    return more > noise ? more : 0;
  });
  if (isLess) member.addExternalUsage(quota, missing, now, within?.quota);
  // A measured cut recovers within seconds, and may come from a limit that no header shows: a shorter window, for instance.
  else if (isWhole && !isLowered && !quota.config.rules.isMeasured && sentAt - quota.backoff.level.cutAt > SETTLED_MS)
    member.recovered(quota, now);
}

/** The swarm's usage of a dimension in the last window of a share; 0 when the share does not count it. */
function usageWithin(share: Share | undefined, dimension: HiveDimension, now: number): number {
  return (share && swarmUsageOf(share.quota, now)[share.dimensions.indexOf(dimension)]) ?? 0;
}

/**
 * The largest usage that this agent may have known when the provider counted. The provider counts requests on arrival and
 * this agent counts them on sending, so each may count usage that the other has dropped or not yet seen.
 */
function knownAt({ usage: { swarm }, config }: Quota, sentAt: number): number[] {
  const { windowMs } = config;
  const apartMs = Math.min(APART_MS, windowMs / 4);
  const sums = [sentAt - apartMs, sentAt, sentAt + apartMs].map((end) => swarm.between(end - windowMs, end));
  return swarm.sum.map((sum, i) => Math.max(sum, ...sums.map((one) => at(one, i))));
}

function lazily<T>(make: () => T): () => T {
  let made: { readonly it: T } | undefined;
  return () => {
    made ??= { it: make() };
    return made.it;
  };
}
