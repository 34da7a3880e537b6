import { execFile } from "node:child_process";
import { promisify } from "node:util";

export interface RunOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>> | undefined;
}

/** What it printed. Rejects with all that it printed when it ends badly. */
export async function run(command: string, args: readonly string[], { cwd, env }: RunOptions): Promise<string> {
  try {
    const options = { cwd, env: { ...clean(), ...env }, maxBuffer: 64 * 1024 * 1024 };
    return (await promisify(execFile)(command, args, options)).stdout;
  } catch (error) {
    const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string };
    throw new Error(`${command} ${args.join(" ")} failed\n${stdout}\n${stderr}`, { cause: error });
  }
}

/** Whoever runs the rehearsal does so through a package manager, whose settings would reach into it. */
function clean(): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(npm_|pnpm_|NODE_OPTIONS$|VITEST)/i.test(name)),
  );
}
