import type { QuotaReply, ReportedLevel } from "@hivepace/core";

const nothing: Omit<QuotaReply, "error"> = {
  stamp: 0,
  isLearning: true,
  members: 0,
  weights: 0,
  limits: [],
  capacity: [],
  used: [],
  allowed: [],
  fair: [],
  level: undefined,
  isStore: false,
};

/** Returns a reply that contains only an error. */
export function quotaError(error: string): QuotaReply {
  return { ...nothing, error };
}

const numbers = (text = ""): number[] => (text === "" ? [] : text.split(" ").map(Number));

/**
 * Parses the reply of the script about one quota: two lines of time, the error, then the fields in the order of the
 * destructuring.
 */
export function readQuotaReply(lines: readonly string[]): QuotaReply {
  const [, , error, stamp, isLearning, members, weights, isStore, limits, capacity, used, allowed, fair, bins] = lines;
  if (error) return quotaError(error);
  return {
    error: undefined,
    stamp: Number(stamp),
    isLearning: isLearning === "1",
    members: Number(members),
    weights: Number(weights),
    isStore: isStore === "1",
    limits: numbers(limits),
    capacity: numbers(capacity),
    used: numbers(used),
    allowed: numbers(allowed),
    fair: numbers(fair),
    level: readLevel(lines.slice(14)),
    bins: bins ? bins.split(",").map(numbers) : undefined,
  };
}

function readLevel([parts, tie, origin, reason]: readonly string[]): ReportedLevel | undefined {
  if (parts === undefined || tie === undefined || origin === undefined || reason === undefined) return undefined;
  const [epoch, levelAtCut, pauseCount, pauseMs, recoveryFactor, recoveryIntervalMs, levelMax, cutAgoMs, pausedAgoMs] =
    numbers(parts) as [number, number, number, number, number, number, number, number, number];
  const rates = { recoveryFactor, recoveryIntervalMs, levelMax };
  return { epoch, levelAtCut, pauseCount, pauseMs, ...rates, cutAgoMs, pausedAgoMs, tie, origin, reason };
}
