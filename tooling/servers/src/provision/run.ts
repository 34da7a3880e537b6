import { execFile } from "node:child_process";

export interface RunOptions {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly timeoutMs?: number;
}

/** Runs a command and resolves with its stdout; a failure has the last line of its output as its message. */
export function run(command: string, args: readonly string[], options: RunOptions = {}): Promise<string> {
  const { timeoutMs = 300_000, env, cwd } = options;
  return new Promise((resolve, reject) => {
    execFile(
      command,
      args,
      {
        ...(cwd === undefined ? {} : { cwd }),
        env: { ...process.env, ...env },
        timeout: timeoutMs,
        killSignal: "SIGKILL",
        maxBuffer: 64 * 1024 * 1024,
      },
      (error, stdout, stderr) => {
        if (error === null) resolve(stdout);
        else reject(new Error(`${command} failed: ${lastLine(stderr) ?? lastLine(stdout) ?? error.message}`));
      },
    );
  });
}

function lastLine(text: string): string | undefined {
  return text.trim().split("\n").at(-1) || undefined;
}
