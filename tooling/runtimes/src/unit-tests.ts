import { readFile, rm } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { logs, root } from "./folders.ts";
import { type Ended, runLogged } from "./logged-program.ts";
import type { Runtime } from "./runtimes.ts";

const PATIENCE_MS = 3_600_000;

/** The outcome of the unit tests on one runtime. */
export interface UnitResult extends Ended {
  readonly passed: number;
  /** At least 1 when the run itself failed. */
  readonly failed: number;
}

/** Runs the unit tests of the workspace with this Node, in Vitest's own worker processes too. */
export async function runUnitTests({ id }: Runtime, node: string): Promise<UnitResult> {
  const results = join(logs, `${id}-unit.json`);
  await rm(results, { force: true });
  const { NODE_OPTIONS: _, NODE_PATH: __, ...env } = process.env;
  const vitest = ["node_modules/vitest/vitest.mjs", "run", "--project", "unit"] as const;
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${results}`];
  const ended = await runLogged(`${id}-unit`, [node, ...vitest, ...reporters], {
    cwd: root,
    // A test that starts "node" by name gets the same one.
    env: { ...env, NO_COLOR: "1", PATH: `${dirname(node)}${delimiter}${env["PATH"]}` },
    patienceMs: PATIENCE_MS,
  });
  const json = await readFile(results, "utf8").catch(() => undefined);
  return { ...ended, ...readResults(json, ended.code) };
}

/** The counts in Vitest's JSON report. A run that ended badly or left no report has at least one failure. */
export function readResults(json: string | undefined, code: number | undefined): { passed: number; failed: number } {
  try {
    const report = JSON.parse(json ?? "") as Record<string, number>;
    const passed = report["numPassedTests"] ?? 0;
    // A file that cannot be loaded is a failed suite without a failed test.
    const failed = Math.max(report["numFailedTests"] ?? 0, report["numFailedTestSuites"] || code !== 0 ? 1 : 0);
    return passed === 0 ? { passed, failed: Math.max(1, failed) } : { passed, failed };
  } catch {
    return { passed: 0, failed: 1 };
  }
}
