import type { Runtime } from "./runtimes.ts";
import type { SmokeResult } from "./smoke-test.ts";
import type { UnitResult } from "./unit-tests.ts";

/** All results of one runtime. */
export interface Outcome {
  readonly runtime: Runtime;
  /** Undefined where the unit tests do not run: Vitest needs Node. */
  readonly unit?: UnitResult | undefined;
  readonly smoke?: SmokeResult | undefined;
  /** Why the runtime could not be fetched or started. */
  readonly error?: string | undefined;
}

const TAIL_LINES = 40;

export function hasFailed({ unit, smoke, error }: Outcome): boolean {
  return error !== undefined || (unit?.failed ?? 0) > 0 || smoke?.failed !== undefined;
}

/** One line for each runtime, with a heading, in columns. */
export function resultTable(outcomes: readonly Outcome[]): string {
  const rows = outcomes.map(({ runtime, unit, smoke, error }) => [
    runtime.id,
    runtime.version,
    unit ? `${unit.passed} passed, ${unit.failed} failed, ${seconds(unit.tookMs)}` : "-",
    smokeCell(smoke) ?? error ?? "-",
  ]);
  const table = [["runtime", "version", "unit tests", "smoke steps"], ...rows];
  const widths = [0, 1, 2].map((column) => Math.max(...table.map((row) => row[column]?.length ?? 0)));
  return table
    .map((row) =>
      row
        .map((cell, i) => cell.padEnd(widths[i] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/** Names the logs to read and the commands to repeat. Empty when nothing failed. */
export function failureReport(outcomes: readonly Outcome[]): string {
  return outcomes
    .filter(hasFailed)
    .map(({ runtime, unit, smoke, error }) => {
      const logs = [unit?.failed ? unit : undefined, smoke?.failed ? smoke : undefined].flatMap((ended) =>
        ended ? [`${ended.log} ends with:\n${tail(ended.output)}`] : [],
      );
      const again = `To repeat: npx -y pnpm@12.18.0 runtimes --only ${runtime.id}`;
      return [`${runtime.id} failed.`, ...(error ? [error] : []), ...logs, again].join("\n");
    })
    .join("\n\n");
}

function smokeCell(smoke: SmokeResult | undefined): string | undefined {
  if (smoke === undefined) return undefined;
  const failed = smoke.failed === undefined ? "" : `, failed: ${smoke.failed}`;
  return `${smoke.passed} passed${failed}, ${seconds(smoke.tookMs)}`;
}

const seconds = (ms: number): string => `${Math.round(ms / 1_000)} s`;
const tail = (text: string): string => text.trimEnd().split("\n").slice(-TAIL_LINES).join("\n");
