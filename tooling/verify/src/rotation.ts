import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Returns the seed of the next time box: one more than that of the last run in this checkout. A new checkout starts
 * with the run number of the workflow or, outside a workflow, with the number of commits, which both grow by
 * themselves.
 */
export function nextSeed(file: string, root: string, env: NodeJS.ProcessEnv): number {
  const last = readNumber(() => readFileSync(file, "utf8"));
  if (last !== undefined) return last + 1;
  const commits = () =>
    execFileSync("git", ["rev-list", "--count", "HEAD"], {
      cwd: root,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
  return readNumber(() => env["GITHUB_RUN_NUMBER"] ?? "") ?? readNumber(commits) ?? 1;
}

/** Stores the seed of a run, so that the next one continues after it. */
export function rememberSeed(file: string, seed: number): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${seed}\n`);
}

function readNumber(read: () => string): number | undefined {
  try {
    const text = read().trim();
    return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
  } catch {
    return undefined;
  }
}
