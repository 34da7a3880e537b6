import type { LimitDimension, LimitObservation, ObservedLimit } from "@hivepace/core";
import { at } from "../engine/amounts.ts";
import type { Member } from "../limiter/member.ts";
import { DIMENSIONS } from "./amounts-of.ts";
import type { HiveDimension } from "./hive-types.ts";
import { CONFIGURED } from "./limits.ts";
import type { Share, Target } from "./target.ts";
import type { Targets } from "./targets.ts";

/** What is missing below this part of a limit is noise: requests that are under way, counts that are rounded. */
const NOISE = 0.02;
/** So long after a cut what is left says nothing yet: the provider may count what was sent before. */
const SETTLED_MS = 5_000;

/**
 * What a provider says about its limits, against what this agent knows:
 * - a limit that nobody configured is taken from there, and follows when it changes;
 * - less is left than we think: others use the account who are not on the bus, and what they use is counted;
 * - as much is left as there should be with the whole limit: then there is nothing to recover from any more.
 */
export function learnFrom(
  target: Target,
  { limits }: LimitObservation,
  member: Member,
  targets: Targets,
  windowMs: number,
  now: number,
): void {
  let isNew = false;
  for (const dimension of DIMENSIONS) {
    const observed = limits[OBSERVED[dimension]];
    if (observed && learnLimit(target, dimension, observed, windowMs)) isNew = true;
  }
  if (isNew) targets.shareOut(target);
  for (const share of target.shares) compare(share, limits, member, now);
}

/** `-1` and 0 are no limits: some providers write them for "none". */
function learnLimit(target: Target, dimension: HiveDimension, observed: ObservedLimit, windowMs: number): boolean {
  const { limit } = observed;
  if (target.count[CONFIGURED[dimension]] < Infinity) return false;
  if (limit === undefined || !(limit > 0 && Number.isFinite(limit))) return false;
  const known = target.learned[dimension];
  const window = observed.windowMs ?? known?.windowMs ?? windowMs;
  if (known?.limit === limit && known.windowMs === window) return false;
  target.learned[dimension] = { limit, windowMs: window };
  return true;
}

function compare(share: Share, limits: LimitObservation["limits"], member: Member, now: number): void {
  const { pool, dimensions } = share;
  let isWhole = false;
  let isLess = false;
  const missing = dimensions.map((dimension, i) => {
    const observed = limits[OBSERVED[dimension]];
    const window = observed?.windowMs ?? pool.config.windowMs;
    if (observed?.limit === undefined || observed.remaining === undefined || window !== pool.config.windowMs) return 0;
    const configured = at(pool.config.limits, i);
    const counted = observed.limit - observed.remaining;
    const more = counted - at(pool.used.sum, i);
    if (more > NOISE * observed.limit) isLess = true;
    // Only a limit that is whole, and used by nobody but us, says that the cut is over.
    if (observed.limit >= configured && more <= NOISE * observed.limit && observed.remaining > 0) isWhole = true;
    return more > NOISE * observed.limit ? more : 0;
  });
  if (isLess) member.usedElsewhere(pool, missing, now);
  else if (isWhole && now - pool.level.cutAt > SETTLED_MS) member.recovered(pool, now);
}

const OBSERVED: Readonly<Record<HiveDimension, LimitDimension>> = {
  requests: "requests",
  tokens: "tokens",
  inputTokens: "input_tokens",
  outputTokens: "output_tokens",
};
