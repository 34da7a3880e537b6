import { type Amounts, addTo, at, isZero, takeFrom, zeros } from "./amounts.ts";
import { SNAPSHOT_BINS, type UsageWindow } from "./usage-window.ts";

/** Amounts of usage, and the time from which they count. */
export interface DatedUsage {
  readonly at: number;
  readonly amounts: number[];
}

/**
 * Distributes `amounts` over a window as the usage of `like` in the dimensions at `indices`, less that of `known`, a window of
 * the same length. Each part counts from the youngest edge of its bin, and amounts that `like` does not have count from `now`:
 * late, and never early. The youngest part comes first.
 */
export function datedLike(
  like: UsageWindow,
  indices: readonly number[],
  amounts: Amounts,
  now: number,
  known?: UsageWindow,
): DatedUsage[] {
  const taken = known?.bins(now, SNAPSHOT_BINS);
  like.expire(now);
  const bins = like
    .bins(now, SNAPSHOT_BINS)
    .map((bin, b) => indices.map((index, i) => Math.max(0, (bin[index] ?? 0) - (taken?.[b]?.[i] ?? 0))));
  const sum = zeros(amounts.length);
  for (const bin of bins) addTo(sum, bin);
  const left = [...amounts];
  const dated: DatedUsage[] = [];
  for (const [b, bin] of bins.entries()) {
    const part = bin.map((amount, i) =>
      amount > 0 ? Math.min(at(left, i), amount * Math.min(1, at(amounts, i) / at(sum, i))) : 0,
    );
    if (isZero(part)) continue;
    takeFrom(left, part);
    dated.push({ at: now - (b * like.windowMs) / SNAPSHOT_BINS, amounts: part });
  }
  return isZero(left) ? dated : [{ at: now, amounts: left }, ...dated];
}
