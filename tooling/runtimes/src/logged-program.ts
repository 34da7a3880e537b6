import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, open, readFile } from "node:fs/promises";
import { join } from "node:path";
import { logs } from "./folders.ts";

export interface ProgramOptions {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** Time limit that only ends a hanging program. */
  readonly patienceMs: number;
}

export interface Ended {
  /** Undefined when the program was ended by a signal, most often because it hung. */
  readonly code: number | undefined;
  readonly tookMs: number;
  /** The file that has everything the program printed. */
  readonly log: string;
  readonly output: string;
}

/** Runs a program to its end, with all its output in the log file of this name. */
export async function runLogged(
  name: string,
  [command, ...args]: readonly [string, ...string[]],
  { cwd, env, patienceMs }: ProgramOptions,
): Promise<Ended> {
  await mkdir(logs, { recursive: true });
  const log = join(logs, `${name}.log`);
  const file = await open(log, "w");
  const startedAt = performance.now();
  try {
    const stdio = ["ignore", file.fd, file.fd] as const;
    const child = spawn(command, args, { cwd, env, stdio: [...stdio], timeout: patienceMs, killSignal: "SIGKILL" });
    const [code] = (await once(child, "exit")) as [number | null];
    return { code: code ?? undefined, tookMs: performance.now() - startedAt, log, output: await readFile(log, "utf8") };
  } finally {
    await file.close();
  }
}
