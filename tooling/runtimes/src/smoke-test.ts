import { type Ended, runLogged } from "./logged-program.ts";
import type { Kind, Runtime } from "./runtimes.ts";

const PATIENCE_MS = 900_000;

/** The programs that are started, one after the other. */
const PROGRAMS = ["main.mjs", "left-open.mjs"] as const;

/** The command of each runtime; docs/runtimes.md names the same permissions of Deno. */
const COMMANDS: Readonly<Record<Kind, readonly string[]>> = {
  node: [],
  bun: ["run"],
  deno: ["run", "--no-prompt", "--allow-net", "--allow-env", "--allow-read"],
};

/** The outcome of the smoke programs on one runtime. */
export interface SmokeResult extends Ended {
  /** Steps that passed. */
  readonly passed: number;
  /** The failed step, or a description of the program's failure outside of a step. */
  readonly failed: string | undefined;
}

/** Runs the smoke programs of a consumer project with this runtime, up to the first that fails. */
export async function runSmoke(
  { id, kind }: Runtime,
  program: string,
  project: string,
  servers: { readonly REDIS_URL: string; readonly NATS_URL: string },
): Promise<SmokeResult> {
  // A clean environment, because settings of a package manager would leak into the project.
  const { PATH, HOME, TMPDIR } = process.env;
  const env = { PATH, HOME, ...(TMPDIR && { TMPDIR }), NO_COLOR: "1", ...servers };
  let [passed, tookMs] = [0, 0];
  for (const file of PROGRAMS) {
    const name = `${id}-smoke-${file.replace(".mjs", "")}`;
    const command = [program, ...COMMANDS[kind], file] as const;
    const ended = await runLogged(name, command, { cwd: project, env, patienceMs: PATIENCE_MS });
    const outcome = readSteps(ended.output, ended.code);
    passed += outcome.passed;
    tookMs += ended.tookMs;
    if (outcome.failed !== undefined || file === PROGRAMS.at(-1))
      return { ...ended, tookMs, passed, failed: outcome.failed };
  }
  throw new Error("there are no smoke programs");
}

/** Parses the output of a smoke program. A program has passed when it prints its last line and exits with 0. */
export function readSteps(output: string, code: number | undefined): { passed: number; failed: string | undefined } {
  const passed = output.match(/^ok .+$/gm)?.length ?? 0;
  const [, step] = /^FAILED (.+?): /m.exec(output) ?? [];
  const [, done, all] = /^done (\d+) of (\d+)$/m.exec(output) ?? [];
  if (step !== undefined) return { passed, failed: step };
  if (code === undefined) return { passed, failed: "the program was ended by a signal, or did not end by itself" };
  if (code !== 0) return { passed, failed: `the program ended with ${code}` };
  if (done === undefined || done !== all || Number(done) !== passed)
    return { passed, failed: "the program ended before its last step" };
  return { passed, failed: undefined };
}
