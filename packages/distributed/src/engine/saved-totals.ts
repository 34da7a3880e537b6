import type { Agent } from "./agent.ts";
import { at, isZero } from "./amounts.ts";
import { dimensionsOf } from "./dimensions.ts";
import type { Quota, Totals } from "./quota.ts";

/** Bounds the memory for totals of removed quotas. */
const MOST_SAVED = 10_000;

/** Saves the totals of a quota that ends, for a later quota of the same name. */
export function saveTotals({ savedTotals }: Agent, { config, usage: { spentTotal, refundedTotal } }: Quota): void {
  if (isZero(spentTotal)) return;
  const totals = savedTotals.get(config.name) ?? new Map<string, Totals>();
  dimensionsOf(config).forEach((name, i) => {
    totals.set(name, { spentTotal: at(spentTotal, i), refundedTotal: at(refundedTotal, i) });
  });
  savedTotals.delete(config.name);
  savedTotals.set(config.name, totals);
  const [oldest] = savedTotals.keys();
  if (savedTotals.size > MOST_SAVED && oldest !== undefined) savedTotals.delete(oldest);
}

/**
 * Continues the totals of an earlier quota of the same name, because peers subtract the totals that they have counted
 * already.
 */
export function restoreTotals({ savedTotals }: Agent, { config, usage }: Quota): void {
  const totals = savedTotals.get(config.name);
  if (!totals) return;
  dimensionsOf(config).forEach((name, i) => {
    const { spentTotal, refundedTotal } = totals.get(name) ?? { spentTotal: 0, refundedTotal: 0 };
    usage.spentTotal[i] = spentTotal;
    usage.refundedTotal[i] = refundedTotal;
  });
}
