import { type CaseResult, suiteOf } from "./case.ts";

/** The outcome of one case. */
export interface Outcome {
  readonly id: string;
  readonly ok: boolean;
  readonly seconds: number;
  readonly result?: CaseResult | undefined;
  readonly error?: string | undefined;
  readonly logFile: string;
}

/** The content of `.cache/verify/report.json`. */
export interface Report {
  readonly startedAt: string;
  readonly seconds: number;
  /** Seed of the rotation; null when all selected cases were to be run. */
  readonly seed: number | null;
  readonly passed: number;
  readonly failed: number;
  /** Ids of selected cases that the time box or an interruption left out. */
  readonly left: readonly string[];
  readonly outcomes: readonly Outcome[];
}

/** Returns a line for each suite and one for the total. */
export function summary({ outcomes, left, seconds, seed }: Report): string {
  const suites = new Map<string, { passed: number; failed: number; left: number; seconds: number }>();
  const of = (each: { readonly id: string }) => {
    const name = suiteOf(each);
    const found = suites.get(name) ?? { passed: 0, failed: 0, left: 0, seconds: 0 };
    suites.set(name, found);
    return found;
  };
  for (const outcome of outcomes) {
    const suite = of(outcome);
    suite[outcome.ok ? "passed" : "failed"]++;
    suite.seconds += outcome.seconds;
  }
  for (const id of left) of({ id }).left++;
  const lines = [...suites].map(([name, suite]) => {
    const words = [
      `${suite.passed} passed`,
      ...(suite.failed > 0 ? [`${suite.failed} FAILED`] : []),
      ...(suite.left > 0 ? [`${suite.left} left for other runs`] : []),
    ];
    return `  ${name.padEnd(20)} ${words.join(", ")} (${duration(suite.seconds)} of work)`;
  });
  const rotation = seed === null ? "" : `, seed ${seed}`;
  return [...lines, `  ${outcomes.length} cases in ${duration(seconds)}${rotation}`].join("\n");
}

/** Returns the details that are needed to understand and repeat a failure. */
export function failure({ id, seconds, error, logFile }: Outcome): string {
  return [
    `FAILED ${id} after ${duration(seconds)}`,
    ...(error ?? "").split("\n").map((line) => `  ${line}`),
    `  repeat: npx -y pnpm@12.18.0 verify --only ${id}`,
    `  log:    ${logFile}`,
  ].join("\n");
}

export function success({ id, seconds, result }: Outcome): string {
  return `ok     ${id} (${duration(seconds)})${result?.summary ? `: ${result.summary}` : ""}`;
}

export function duration(seconds: number): string {
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 100) return `${Math.round(seconds)} s`;
  return `${(seconds / 60).toFixed(1)} min`;
}
