import { type CaseInfo, suiteOf } from "./case.ts";
import { duration, failure, type Outcome, success } from "./report.ts";

export interface RunOptions {
  readonly workers: number;
  /** Seconds after which no case starts; undefined for no time box. */
  readonly boxSeconds: number | undefined;
  readonly isVerbose: boolean;
  readonly print: (text: string) => void;
  readonly signal: AbortSignal;
  /** Runs one case. Never rejects. */
  readonly runCase: (info: CaseInfo) => Promise<Pick<Outcome, "result" | "error" | "logFile">>;
  /** Seconds on a monotonic clock. */
  readonly now: () => number;
}

/** Interval of progress messages when nothing else is printed. */
const PROGRESS_SECONDS = 30;

/** Runs cases in order, several at a time. Returns the outcomes and the ids of the cases left out. */
export async function runCases(
  cases: readonly CaseInfo[],
  options: RunOptions,
): Promise<{ outcomes: Outcome[]; left: string[] }> {
  const { workers, boxSeconds = Infinity, isVerbose, print, signal, runCase, now } = options;
  const startedAt = now();
  const [outcomes, left, waiting, running] = [[] as Outcome[], [] as string[], [...cases], new Map<CaseInfo, number>()];
  const isLeftOut = ({ seconds }: CaseInfo): boolean =>
    signal.aborted || now() - startedAt + Math.min(seconds, boxSeconds) > boxSeconds;
  let progressAt = startedAt;

  const oneAfterTheOther = async (): Promise<void> => {
    for (let info = waiting.shift(); info; info = waiting.shift()) {
      if (isLeftOut(info)) {
        left.push(info.id);
        continue;
      }
      const from = now();
      running.set(info, from);
      const { result, error, logFile } = await runCase(info);
      running.delete(info);
      if (signal.aborted) {
        left.push(info.id);
        continue;
      }
      const outcome = { id: info.id, ok: error === undefined, seconds: now() - from, result, error, logFile };
      outcomes.push(outcome);
      if (!outcome.ok) print(failure(outcome));
      else if (isVerbose) print(success(outcome));
      if (now() - progressAt < PROGRESS_SECONDS) continue;
      progressAt = now();
      print(progressLine(outcomes.length, cases.length, [...running.keys()], now() - startedAt));
    }
  };
  await Promise.all(Array.from({ length: workers }, oneAfterTheOther));
  return { outcomes, left };
}

function progressLine(done: number, all: number, running: readonly CaseInfo[], seconds: number): string {
  const suites = [...new Set(running.map(suiteOf))].join(", ");
  return `  ${done} of ${all} cases after ${duration(seconds)}${suites ? `; now: ${suites}` : ""}`;
}
