import type { Amounts } from "./amounts.ts";
import { dimensionsOf, hasSameDimensions, indicesOf, pick } from "./dimensions.ts";
import type { ClaimReport, PoolReport } from "./message.ts";
import type { PoolConfig } from "./pool.ts";
import { BINS } from "./use-window.ts";

/**
 * A peer's report in the dimensions of our quota, or undefined when they have none in common. Dimensions that only the
 * peer has are left out. Of a dimension that only we have the peer says nothing: no usage, no limit, and totals that stay
 * as `before` had them, so that they never go back.
 */
export function projected(
  config: PoolConfig,
  report: PoolReport,
  before: Pick<PoolReport, "sent" | "back"> | undefined,
): PoolReport | undefined {
  if (hasSameDimensions(config, report)) return report;
  // Without names, limits of another number cannot be told apart.
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
 * A report about a window of another length, as far as it can be known for ours: its usage at the youngest edge of each
 * bin, late and never early; its totals; no claim and no limit.
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
