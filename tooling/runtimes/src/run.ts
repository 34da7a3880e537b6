import { execFile } from "node:child_process";
import { promisify } from "node:util";

/** Runs a command and returns its stdout. A failure has all output in its message. */
export async function run(command: string, args: readonly string[], options: { cwd: string }): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)(command, args, { ...options, maxBuffer: 64 * 1024 * 1024 });
    return stdout;
  } catch (error) {
    const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string };
    throw new Error(`${command} ${args.join(" ")} failed in ${options.cwd}\n${stdout}${stderr}`, { cause: error });
  }
}
