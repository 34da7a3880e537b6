import type { Amounts } from "./amounts.ts";
import { dimensionsOf, hasSameDimensions, indicesOf, pick } from "./dimensions.ts";
import type { ClaimReport, QuotaReport } from "./message.ts";
import type { QuotaConfig } from "./quota.ts";
import { BINS } from "./usage-window.ts";

/**
 * A peer's report converted to the dimensions of the own quota, or undefined when the two have no dimension in common.
 * Dimensions that only the peer has are dropped. Dimensions that only this agent has get no usage and no limit; their totals
 * stay as in `before`, so that they never decrease.
 */
export function projected(
  config: QuotaConfig,
  report: QuotaReport,
  before: Pick<QuotaReport, "spentTotal" | "refundedTotal"> | undefined,
): QuotaReport | undefined {
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
    spentTotal: total(report.spentTotal, before?.spentTotal),
    refundedTotal: total(report.refundedTotal, before?.refundedTotal),
    refunds: report.refunds?.map(({ ageMs, amounts }) => ({ ageMs, amounts: pick(amounts, indices) })),
    used: pick(report.used, indices),
    bins: bins(report.bins),
    demand: pick(report.demand, indices),
    claim: report.claim && projectedClaim(report.claim, indices),
    joinSnapshot: report.joinSnapshot && bins(report.joinSnapshot),
  };
}

function projectedClaim(claim: ClaimReport, indices: readonly number[]): ClaimReport {
  return { ...claim, amounts: pick(claim.amounts, indices), next: pick(claim.next, indices) };
}

/**
 * A report on a window of another length, converted to the own window. Usage is placed at the youngest edge of each bin, so it
 * expires late and never early. Totals stay; claim and limits do not apply.
 */
export function rewindowed(config: QuotaConfig, report: QuotaReport): QuotaReport {
  const bins = Array.from({ length: BINS }, () => report.limits.map(() => 0));
  const used = report.limits.map(() => 0);
  report.bins.forEach((bin, b) => {
    const target = bins[Math.floor((b * report.windowMs) / config.windowMs)];
    bin.forEach((amount, i) => {
      if (!target) return;
      target[i] = (target[i] as number) + amount;
      used[i] = (used[i] as number) + amount;
    });
  });
  const limits = report.limits.map(() => Infinity);
  return {
    ...report,
    windowMs: config.windowMs,
    limits,
    used,
    bins,
    claim: undefined,
    level: undefined,
    joinSnapshot: undefined,
  };
}
