import type { Row } from "./row.ts";
import type { Spread } from "./statistics.ts";

/** Formats with about three significant digits; larger values as whole numbers with thousands separators. */
export function formatNumber(value: number): string {
  if (value !== 0 && Math.abs(value) < 0.01) return value.toLocaleString("en-US", { maximumSignificantDigits: 2 });
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

export function formatRatio(ratio: Spread | undefined): string {
  return ratio === undefined ? "" : `${formatNumber(ratio.median)} ×`;
}

/** Empty for a single measurement. */
export function formatSpread(ratio: Spread | undefined): string {
  return ratio === undefined || ratio.low === ratio.high
    ? ""
    : `${formatNumber(ratio.low)} … ${formatNumber(ratio.high)}`;
}

export function formatWanted({ wanted, unit }: Row): string {
  if (wanted === undefined) return "";
  const sign = { below: "<", "at most": "≤", "at least": "≥" }[wanted.direction];
  return `${sign} ${wanted.limit.toLocaleString("en-US")} ${wanted.of === "ratio" ? "×" : unit}`;
}
