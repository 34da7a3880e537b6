import type { Outcome } from "../run/outcome.ts";
import { percent } from "./text.ts";

export interface Row {
  readonly name: string;
  readonly outcome: Outcome;
}

const HEAD = ["in a minute", "sent", "accepted", "429s", "wasted", "given up", "use of the limit", "fairness"];

/** Runs beside each other. Counts are those of a minute of the demo, since not all runs take as long. */
export function tableOf(rows: readonly Row[]): string[] {
  const cells = [HEAD, ...rows.map(cellsOf)];
  const widths = HEAD.map((_, i) => Math.max(...cells.map((row) => (row[i] ?? "").length)));
  return cells.map((row) =>
    row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join("   "),
  );
}

function cellsOf({ name, outcome: { figures, failed, tookMs } }: Row): string[] {
  const minutes = tookMs / figures.limit.windowMs;
  const perMinute = (count: number) => String(Math.round(count / minutes));
  const { sent, accepted, rejected429, utilization, jain } = figures;
  return [
    name,
    perMinute(sent),
    perMinute(accepted),
    perMinute(rejected429),
    percent(sent === 0 ? 0 : rejected429 / sent),
    perMinute(failed),
    percent(utilization),
    jain.toFixed(2),
  ];
}
