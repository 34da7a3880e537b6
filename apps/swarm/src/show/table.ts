import { rows } from "../rows.ts";
import type { Score } from "../run/score.ts";
import { count, percent, seconds } from "./text.ts";

const HEADS = [
  ["", "tasks", "tasks", "calls", "wasted", "wasted", "latency", "", "limit"],
  ["", "done", "failed", "failed", "calls", "tokens", "p50", "p99", "used"],
] as const;
const WIDTHS = [19, 6, 8, 8, 8, 8, 8, 7, 7] as const;

/** Formats the scores as a table of at most 80 columns. */
export function tableOf(scores: readonly Score[]): string[] {
  const cells = [...HEADS, ...scores.map(cellsOf)];
  return cells.map((row) =>
    row.map((cell, i) => (i === 0 ? cell.padEnd(WIDTHS[0]) : cell.padStart(WIDTHS[i] ?? 0))).join(""),
  );
}

function cellsOf(score: Score): string[] {
  const { row, tasksFinished, tasksFailed, callsFailed, wastedCalls, wastedTokens, utilization } = score;
  return [
    rows[row].title,
    count(tasksFinished),
    count(tasksFailed),
    count(callsFailed),
    count(wastedCalls),
    count(wastedTokens),
    seconds(score.latencyP50Ms),
    seconds(score.latencyP99Ms),
    percent(utilization),
  ];
}

/** The legend of the columns, in lines of at most 80 characters. */
export const LEGEND: readonly string[] = [
  "A task is 20 calls, one after the other. It fails when one call fails for good.",
  "Wasted: calls that were refused or whose task failed later, and their tokens.",
  "Latency: of answered calls, with all waits and retries. Failed calls have none.",
];
