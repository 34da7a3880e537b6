import type { Amounts } from "./amounts.ts";
import { dimensionsOf, hasSameDimensions, indicesOf, pick } from "./dimensions.ts";
import type { ClaimReport, PoolReport } from "./message.ts";
import type { PoolConfig } from "./pool.ts";
import { BINS } from "./use-window.ts";

/**
 * A peer's report converted to the dimensions of our quota, or undefined when the two have no dimension in common.
 * Dimensions that only the peer has are dropped. Dimensions that only we have get no usage and no limit; their totals stay
 * as in `before`, so that they never decrease.
 */
export function projected(
  config: PoolConfig,
  report: PoolReport,
  before: Pick<PoolReport, "sent" | "back"> | undefined,
): PoolReport | undefined {
  if (hasSameDimensions(config, report)) return report;
  // A different number of unnamed limits cannot be matched.
  if (!config.dimensions && !report.dimensions) return undefined;
  const indices = indicesOf(dimensionsOf(config), dimensionsOf(report));
  if (indices.every((index) => index < 0)) return undefined;
  const total = (amounts: Amounts, known: Amounts | undefined) =>
    indices.map((index, i) => (index < 0 ? (known?.[i] ?? 0) : (amounts[index] as number)));
  const bins = (all: readonly Amounts[]) => all.map((bin) => pick(bin, indices));
  return {
    ...report,
    dimensions: config.dimensions,
    limits: pick(report.limits, indices, Infinity),
    sent: total(report.sent, before?.sent),
    back: total(report.back, before?.back),
    used: pick(report.used, indices),
    bins: bins(report.bins),
    waiting: pick(report.waiting, indices),
    claim: report.claim && projectedClaim(report.claim, indices),
    seen: report.seen && bins(report.seen),
  };
}

function projectedClaim(claim: ClaimReport, indices: readonly number[]): ClaimReport {
  return { ...claim, amounts: pick(claim.amounts, indices), next: pick(claim.next, indices) };
}

/**
 * A report about a window of another length, converted to ours. Usage is placed at the youngest edge of each bin, so it
 * expires late and never early. Totals stay; claim and limits do not apply.
 */
export function rewindowed(config: PoolConfig, said: PoolReport): PoolReport {
  const bins = Array.from({ length: BINS }, () => said.limits.map(() => 0));
  const used = said.limits.map(() => 0);
  said.bins.forEach((bin, b) => {
    const target = bins[Math.floor((b * said.windowMs) / config.windowMs)];
    bin.forEach((amount, i) => {
      if (!target) return;
      target[i] = (target[i] as number) + amount;
      used[i] = (used[i] as number) + amount;
    });
  });
  const limits = said.limits.map(() => Infinity);
  return {
    ...said,
    windowMs: config.windowMs,
    limits,
    used,
    bins,
    claim: undefined,
    level: undefined,
    seen: undefined,
  };
}
