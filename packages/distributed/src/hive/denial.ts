import type { LimitedBy, RateDecision } from "@hivepace/core";
import type { Use } from "./amounts-of.ts";
import type { Scope } from "./scope.ts";
import type { Share, ShareReading, Target } from "./target.ts";

/**
 * Combines the denials of all limits of a request: those that only this process counts (`local`, which has counted
 * nothing) and those that the agents share. Decisions, errors and explanations all use this function, so that they name
 * the same limit and the same wait: the wait ends when the last of the limits allows the request. `ahead` is the demand
 * of waiters of the same target that come first; each scope knows its own waiters. Returns undefined when no limit
 * denies the request; a request denied nevertheless (`isDenied`) should be retried at once.
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
  for (const { shares } of scopes.length === 0 ? [target] : [...scopes, target])
    for (const share of shares) {
      share.price(use);
      if (share.isTooLarge(share.cost))
        return shared(local, share.reading(share.cost, now), "too-large", undefined, share);
    }
  if (local.reason === "in-flight") return local;
  let longest: Share | undefined = isDenied ? (target.shares[0] ?? scopes[0]?.shares[0]) : undefined;
  let longestMs = 0;
  const wait = (share: Share, before: Use | undefined): void => {
    const waitMs = share.waitMs(share.cost, before && share.amounts(before), now);
    if (waitMs > longestMs) [longest, longestMs] = [share, waitMs];
  };
  for (const share of target.shares) wait(share, ahead);
  for (const { shares, bound, wanted } of scopes)
    for (const share of shares) wait(share, ahead && bound.size > 0 ? wanted : undefined);
  const localMs = local.allowed ? 0 : (local.retryAfterMs ?? 0);
  if (local.allowed && !longest) return isDenied ? denied(local, "rate", 1) : undefined;
  // Times below a millisecond are rounding errors of floating-point sums.
  const retryAfterMs = Math.max(1, Math.ceil(Math.max(localMs, longestMs) - 1e-6));
  const reading = longest?.reading(longest.cost, now);
  // When both count the same limit, the one that this process counts is named, unless all agents pause.
  if (!reading || (!local.allowed && (localMs >= longestMs || isSameLimit(local, reading))))
    return denied(local, "rate", retryAfterMs);
  return shared(local, reading, "rate", retryAfterMs, longest);
}

/** The names that limits of this process have where all agents share them. */
const SAME_LIMITS: Partial<Record<LimitedBy, LimitedBy>> = {
  "endpoint-rpm": "swarm-rpm",
  "endpoint-tpm": "swarm-tpm",
  "endpoint-input-tpm": "swarm-input-tpm",
  "endpoint-output-tpm": "swarm-output-tpm",
  "endpoint-in-flight": "swarm-in-flight",
  "key-rpm": "key-rpm",
  "key-tpm": "key-tpm",
};

function isSameLimit({ limitedBy }: RateDecision, reading: ShareReading): boolean {
  return limitedBy !== undefined && SAME_LIMITS[limitedBy] === reading.limitedBy;
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
  local: RateDecision,
  reading: ShareReading,
  why: "rate" | "too-large",
  retryAfterMs: number | undefined,
  share: Share | undefined,
): RateDecision {
  const { windowStart } = local;
  const { utilization, limitedBy } = reading;
  // Slots are neither requests nor tokens of a window.
  const { currentTpm, limitTpm, currentRpm, limitRpm } = share?.isSlots ? local : reading;
  const reason = share?.isSlots && why === "rate" && limitedBy !== "swarm-pause" ? "in-flight" : why;
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
