import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { discover } from "./discover.ts";
import { parseOptions, usage } from "./options.ts";
import { type Report, summary } from "./report.ts";
import { nextSeed, rememberSeed } from "./rotation.ts";
import { runCases } from "./run-cases.ts";
import { select } from "./select.ts";
import { WorkerPool } from "./worker-pool.ts";

export interface VerifyWorld {
  /** The folder whose cases are run; results go to its `.cache/verify`. */
  readonly root: string;
  readonly env: NodeJS.ProcessEnv;
  readonly print: (text: string) => void;
  readonly printError: (text: string) => void;
  readonly signal: AbortSignal;
}

/** Runs the selected cases. Resolves with the exit code. */
export async function runVerify(args: readonly string[], world: VerifyWorld): Promise<number> {
  const { root, env, print, printError, signal } = world;
  let options: ReturnType<typeof parseOptions>;
  try {
    options = parseOptions(args);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    printError(`${error.message}\n\n${usage}`);
    return 2;
  }
  if (!options) {
    print(usage);
    return 0;
  }
  const { isQuick, only, minutes, shard, isList, workers, isVerbose } = options;
  const folder = join(root, ".cache/verify");
  const seedFile = join(folder, "last-seed");
  const seed = minutes === undefined ? undefined : (options.seed ?? nextSeed(seedFile, root, env));
  const cases = select(await discover(root), { isQuick, only, shard, rotation: seed });
  if (cases.length === 0) {
    printError(`no case matches ${only.map((text) => `--only ${text}`).join(" ")}; --list shows all of them`);
    return 2;
  }
  if (isList) {
    for (const { id, seconds } of cases) print(`${String(Math.ceil(seconds)).padStart(6)} s  ${id}`);
    return 0;
  }
  const logs = join(folder, "logs");
  await rm(logs, { recursive: true, force: true });
  await mkdir(logs, { recursive: true });

  const pool = new WorkerPool(logs);
  const interrupt = (): void => pool.close();
  signal.addEventListener("abort", interrupt, { once: true });
  const startedAt = new Date();
  const now = (): number => performance.now() / 1_000;
  const from = now();
  print(
    `verify: ${cases.length} cases, ${workers} workers${seed === undefined ? "" : `, ${minutes} minutes, seed ${seed}`}`,
  );
  const { outcomes, left } = await runCases(cases, {
    workers,
    boxSeconds: minutes === undefined ? undefined : minutes * 60,
    isVerbose,
    print,
    signal,
    now,
    runCase: (info) => pool.run(info),
  });
  pool.close();
  signal.removeEventListener("abort", interrupt);

  const failed = outcomes.filter(({ ok }) => !ok).length;
  const passed = outcomes.length - failed;
  const report: Report = {
    startedAt: startedAt.toISOString(),
    seconds: now() - from,
    seed: seed ?? null,
    passed,
    failed,
    left,
    outcomes,
  };
  await writeFile(join(folder, "report.json"), `${JSON.stringify(report, undefined, 2)}\n`);
  if (seed !== undefined && !signal.aborted) rememberSeed(seedFile, seed);
  print(`\n${summary(report)}\n`);
  print(`${passed} passed, ${failed} failed`);
  return signal.aborted ? 130 : failed > 0 ? 1 : 0;
}
