import type { SwarmReport } from "./report.ts";

/** Formats reports as a table, one line each. */
export function swarmTable(rows: readonly { readonly name: string; readonly report: SwarmReport }[]): string {
  const head = ["", "use", "max", "429s", "Jain", "wait p50", "p99", "longest gap", "messages/agent/s"];
  const lines = rows.map(({ name, report }) => [
    name,
    percent(report.use),
    report.max.toFixed(3),
    report.refused === 0 ? "0" : percent(report.refused / report.sent),
    report.jain.toFixed(3),
    seconds(report.wait.p50),
    seconds(report.wait.p99),
    `${report.longestGap.toFixed(1)} windows`,
    report.messagesPerAgentSecond.toFixed(2),
  ]);
  const all = [head, ...lines];
  const widths = head.map((_, column) => Math.max(...all.map((line) => line[column]?.length ?? 0)));
  const text = (line: readonly string[]) =>
    `| ${line.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join(" | ")} |`;
  const rule = `|${widths.map((width, i) => (i === 0 ? "-".repeat(width + 2) : `${"-".repeat(width + 1)}:`)).join("|")}|`;
  return [text(head), rule, ...lines.map(text)].join("\n");
}

function percent(part: number): string {
  return `${(part * 100).toFixed(1)} %`;
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 0)} s`;
}
