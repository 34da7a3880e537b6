import type { LimitObservation, ObservedLimit } from "@hivepace/core";
import { at } from "../engine/amounts.ts";
import type { Pool } from "../engine/pool.ts";
import type { Member } from "../limiter/member.ts";
import { DIMENSIONS } from "./amounts-of.ts";
import type { HiveDimension } from "./hive-types.ts";
import { CONFIGURED, isWindow, NAMES } from "./limits.ts";
import type { Limited, Share, Target } from "./target.ts";
import type { Targets } from "./targets.ts";

/** What is missing below this part of a limit is noise: requests that are under way, counts that are rounded. */
const NOISE = 0.02;
/** What was sent so soon after a cut says nothing yet: the provider may count what was sent before. */
const SETTLED_MS = 5_000;
/** So far may the provider's time of a request be from ours: the way there, and what other agents say a little late. */
const APART_MS = 2_000;

/**
 * What a provider says about its limits, against what this agent knows:
 * - a limit that nobody configured is taken from there, and follows when it changes;
 * - less is left than we think: others use the account who are not on the bus, and what they use is counted;
 * - as much is left as there should be with the whole limit: then there is nothing to recover from any more.
 *
 * True when a limit was learned: calls that wait have to ask for it, too.
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
  // An answer about one model says nothing about the others.
  const scope = targets.useModel(target, model, now);
  const learner = scope ?? target;
  let isNew = false;
  for (const dimension of DIMENSIONS) {
    const observed = limits[NAMES[dimension]];
    if (!observed || target.count[CONFIGURED[dimension]] < Infinity) continue;
    if (learnLimit(learner, dimension, observed, windowMs)) isNew = true;
  }
  if (isNew) targets.shareOut(learner);
  for (const share of learner.shares) compare(share, observation, member, now);
  if (scope) for (const share of target.shares) compare(share, observation, member, now);
  return isNew;
}

/** `-1` and 0 are no limits: some providers write them for "none". */
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

function compare(share: Share, { limits, sentAgoMs = 0 }: LimitObservation, member: Member, now: number): void {
  const { pool, dimensions } = share;
  const { windowMs } = pool.config;
  // Of what was used so long ago nothing is left.
  if (!(sentAgoMs >= 0 && sentAgoMs < windowMs)) return;
  pool.used.expire(now);
  const sentAt = now - sentAgoMs;
  const known = lazily(() => knownAt(pool, sentAt));
  let isWhole = false;
  let isLess = false;
  const missing = dimensions.map((dimension, i) => {
    const observed = limits[NAMES[dimension]];
    const window = observed?.windowMs ?? windowMs;
    if (observed?.limit === undefined || observed.remaining === undefined || window !== windowMs) return 0;
    const noise = NOISE * observed.limit;
    const counted = observed.limit - observed.remaining;
    let more = counted - at(pool.used.sum, i);
    if (more > noise) more = counted - at(known(), i);
    if (more > noise) isLess = true;
    // Only a limit that is whole, and used by nobody but us, says that the cut is over.
    else if (observed.limit >= at(pool.config.limits, i) && observed.remaining > 0) isWhole = true;
    return more > noise ? more : 0;
  });
  if (isLess) member.usedElsewhere(pool, missing, now);
  else if (isWhole && sentAt - pool.level.cutAt > SETTLED_MS) member.recovered(pool, now);
}

/**
 * The most that we can have taken for used when the provider counted. It counts when a request arrives, we when it may be
 * sent; so it may still count what is over for us, or count already what we heard of later.
 */
function knownAt({ used, config }: Pool, sentAt: number): number[] {
  const { windowMs } = config;
  const apartMs = Math.min(APART_MS, windowMs / 4);
  const sums = [sentAt - apartMs, sentAt, sentAt + apartMs].map((end) => used.between(end - windowMs, end));
  return used.sum.map((sum, i) => Math.max(sum, ...sums.map((one) => at(one, i))));
}

function lazily<T>(make: () => T): () => T {
  let made: { readonly it: T } | undefined;
  return () => {
    made ??= { it: make() };
    return made.it;
  };
}
