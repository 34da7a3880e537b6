import type { RateDecision } from "@hivepace/core";
import type { Use } from "./amounts-of.ts";
import type { Scope } from "./scope.ts";
import type { Share, ShareReading, Target } from "./target.ts";

/**
 * What stands against a request, of all limits that it meets: those that this process counts by itself (`local`, which
 * has counted nothing) and those that the agents hold together. Decisions, errors and explanations all come from here,
 * so that they name the same limit and the same wait: the wait is over when the last of the limits allows the request.
 * `ahead` is what waiters of the same target take before it; those of the same scope are known to the scope. Undefined when
 * nothing stands against it; one that is denied all the same (`isDenied`) should try again at once.
 */
export function denialOf(
  target: Target,
  scopes: readonly Scope[],
  use: Use,
  local: RateDecision,
  ahead: Use | undefined,
  now: number,
): RateDecision | undefined;
export function denialOf(
  target: Target,
  scopes: readonly Scope[],
  use: Use,
  local: RateDecision,
  ahead: Use | undefined,
  now: number,
  isDenied: true,
): RateDecision;
export function denialOf(
  target: Target,
  scopes: readonly Scope[],
  use: Use,
  local: RateDecision,
  ahead: Use | undefined,
  now: number,
  isDenied = false,
): RateDecision | undefined {
  if (local.reason === "too-large") return local;
  for (const { shares } of [...scopes, target])
    for (const share of shares) {
      const cost = share.amounts(use);
      if (share.isTooLarge(cost)) return shared(local, share.reading(cost, now), "too-large", undefined);
    }
  if (local.reason === "in-flight") return local;
  let longest: Share | undefined = isDenied ? (target.shares[0] ?? scopes[0]?.shares[0]) : undefined;
  let longestMs = 0;
  const wait = (share: Share, before: Use | undefined): void => {
    const waitMs = share.waitMs(share.amounts(use), before && share.amounts(before), now);
    if (waitMs > longestMs) [longest, longestMs] = [share, waitMs];
  };
  for (const share of target.shares) wait(share, ahead);
  for (const { shares, bound, wanted } of scopes)
    for (const share of shares) wait(share, ahead && bound.size > 0 ? wanted : undefined);
  const localMs = local.allowed ? 0 : (local.retryAfterMs ?? 0);
  if (local.allowed && !longest) return isDenied ? denied(local, "rate", 1) : undefined;
  // Times below a millisecond are those of floating point.
  const retryAfterMs = Math.max(1, Math.ceil(Math.max(localMs, longestMs) - 1e-6));
  const reading = longest?.reading(longest.amounts(use), now);
  // Of one limit that both count, the one that this process counts is named, unless all agents pause.
  if (!reading || (!local.allowed && (localMs >= longestMs || isSameLimit(local, reading))))
    return denied(local, "rate", retryAfterMs);
  return shared(local, reading, "rate", retryAfterMs);
}

function isSameLimit({ limitedBy }: RateDecision, reading: ShareReading): boolean {
  return limitedBy?.replace("endpoint-", "swarm-") === reading.limitedBy;
}

function denied(local: RateDecision, reason: "rate" | "too-large", retryAfterMs: number | undefined): RateDecision {
  const { currentTpm, limitTpm, currentRpm, limitRpm, utilization, windowStart, limitedBy } = local;
  return {
    allowed: false,
    currentTpm,
    limitTpm,
    currentRpm,
    limitRpm,
    utilization,
    windowStart,
    retryAfterMs,
    limitedBy,
    reason,
  };
}

function shared(
  { windowStart }: RateDecision,
  reading: ShareReading,
  reason: "rate" | "too-large",
  retryAfterMs: number | undefined,
): RateDecision {
  const { currentTpm, limitTpm, currentRpm, limitRpm, utilization, limitedBy } = reading;
  return {
    allowed: false,
    currentTpm,
    limitTpm,
    currentRpm,
    limitRpm,
    utilization,
    windowStart,
    retryAfterMs,
    limitedBy,
    reason,
  };
}
