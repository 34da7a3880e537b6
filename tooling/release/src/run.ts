import { execFile } from "node:child_process";
import { promisify } from "node:util";

export interface RunOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>> | undefined;
}

/** Runs a command and resolves with its stdout. A failure has all output in its message. */
export async function run(command: string, args: readonly string[], { cwd, env }: RunOptions): Promise<string> {
  try {
    const options = { cwd, env: { ...clean(), ...env }, maxBuffer: 64 * 1024 * 1024 };
    return (await promisify(execFile)(command, args, options)).stdout;
  } catch (error) {
    const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string };
    throw new Error(`${command} ${args.join(" ")} failed\n${stdout}\n${stderr}`, { cause: error });
  }
}

/** Removes settings of the package manager that runs the rehearsal, which would otherwise leak into it. */
function clean(): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(npm_|pnpm_|NODE_OPTIONS$|NODE_PATH$|VITEST)/i.test(name)),
  );
}
