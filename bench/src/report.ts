import { formatNumber, formatRatio, formatSpread, formatWanted } from "./format.ts";
import type { Machine } from "./machine.ts";
import { type Row, verdictOf } from "./row.ts";
import type { RunParameters } from "./suite.ts";
import { type Column, markdownTable, textTable } from "./table.ts";

export interface SuiteReport {
  readonly name: string;
  readonly title: string;
  readonly rows: readonly Row[];
}

export interface Report {
  readonly machine: Machine;
  readonly parameters: RunParameters;
  /** The compared libraries and their versions. */
  readonly versions: Readonly<Record<string, string>>;
  readonly suites: readonly SuiteReport[];
}

const measuredColumns: Column[] = [
  { title: "what", align: "left" },
  { title: "value", align: "right" },
  { title: "unit", align: "left" },
  { title: "ratio", align: "right" },
  { title: "p10 … p90", align: "right" },
  { title: "against", align: "left" },
];

const wantedColumns: Column[] = [
  ...measuredColumns,
  { title: "wanted", align: "right" },
  { title: "verdict", align: "left" },
];

function cells(row: Row): string[] {
  const { what, value, unit, ratio, against = "" } = row;
  return [what, formatNumber(value), unit, formatRatio(ratio), formatSpread(ratio), against];
}

type Render = (columns: readonly Column[], rows: readonly (readonly string[])[]) => string;

/** All measurements first, then the claims, then the notes. */
function body({ rows }: SuiteReport, render: Render): string {
  const plain = rows.filter((row) => row.wanted === undefined);
  const wanted = rows.filter((row) => row.wanted !== undefined);
  const parts: string[] = [];
  if (plain.length > 0) parts.push(render(measuredColumns, plain.map(cells)));
  if (wanted.length > 0)
    parts.push(
      render(
        wantedColumns,
        wanted.map((row) => [...cells(row), formatWanted(row), verdictOf(row) ?? ""]),
      ),
    );
  const notes = rows.filter((row) => row.note !== undefined).map((row) => `- ${row.what}: ${row.note}`);
  if (notes.length > 0) parts.push(notes.join("\n"));
  return parts.join("\n\n");
}

export function suiteText(suite: SuiteReport): string {
  return `${suite.name}: ${suite.title}\n\n${body(suite, textTable)}\n`;
}

export function reportMarkdown({ machine, parameters, versions, suites }: Report): string {
  const { cpu, cores, node, v8, platform, date, load } = machine;
  const { rounds, warmUpRounds, sliceMs, seed, quick } = parameters;
  const lines = [
    "# Benchmark",
    "",
    `${date}, ${cpu}, ${cores} cores, load ${load.toFixed(2)}, ${platform}, Node ${node} (V8 ${v8}).`,
    `${rounds} rounds after ${warmUpRounds} to warm up, ${sliceMs} ms each, seed ${seed}${quick ? ", quick" : ""}.`,
    `Beside: ${Object.entries(versions)
      .map(([name, version]) => `${name} ${version}`)
      .join(", ")}.`,
    "Times and ratios are medians; a ratio is taken within each round, and its p10 … p90 are over the rounds.",
    "",
  ];
  for (const suite of suites) lines.push(`## ${suite.name}`, "", `${suite.title}`, "", body(suite, markdownTable), "");
  return lines.join("\n");
}

export function misses({ suites }: Report): Row[] {
  return suites.flatMap(({ rows }) => rows.filter((row) => verdictOf(row) === "MISS"));
}

/** Returns the rows unchanged, each with its verdict. */
export function reportJson(report: Report): string {
  const suites = report.suites.map((suite) => ({
    ...suite,
    rows: suite.rows.map((row) => ({ ...row, verdict: verdictOf(row) })),
  }));
  return `${JSON.stringify({ ...report, suites }, undefined, 2)}\n`;
}
