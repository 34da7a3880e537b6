import type { ShareAnswer, ShareLevel } from "@hivepace/core";

const nothing: Omit<ShareAnswer, "error"> = {
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

/** No answer for this pool, and why. */
export function noShare(error: string): ShareAnswer {
  return { ...nothing, error };
}

const numbers = (text = ""): number[] => (text === "" ? [] : text.split(" ").map(Number));

/** What the script says of one pool: time, error, and then in the order in which they stand here. */
export function readShare(lines: readonly string[]): ShareAnswer {
  const [, , error, stamp, isLearning, members, weights, isStore, limits, capacity, used, allowed, fair] = lines;
  if (error) return noShare(error);
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
    level: readLevel(lines.slice(13)),
  };
}

function readLevel([parts, tie, origin, reason]: readonly string[]): ShareLevel | undefined {
  if (parts === undefined || tie === undefined || origin === undefined || reason === undefined) return undefined;
  const [epoch, base, round, pauseMs, recoveryFactor, recoveryIntervalMs, most, cutAgoMs, pausedAgoMs] = numbers(
    parts,
  ) as [number, number, number, number, number, number, number, number, number];
  const rates = { recoveryFactor, recoveryIntervalMs, most };
  return { epoch, base, round, pauseMs, ...rates, cutAgoMs, pausedAgoMs, tie, origin, reason };
}
