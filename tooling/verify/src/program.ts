import { spawn } from "node:child_process";

/**
 * Runs a TypeScript program of the repository, for cases that are whole programs. Its output goes to the worker's log.
 * Rejects with the end of the output when the exit code is not 0.
 */
export function runProgram(file: string, args: readonly string[] = []): Promise<string> {
  return runNode(["--import", "tsx", "--conditions", "@hivepace/source", "--expose-gc", file, ...args]);
}

/** Like `runProgram`, with arguments for Node itself. */
export async function runNode(args: readonly string[]): Promise<string> {
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"] });
  const end = () => child.kill("SIGKILL");
  process.once("exit", end);
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      process.stdout.write(text);
      output = (output + text).slice(-LAST_CHARACTERS);
    });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  process.off("exit", end);
  if (code !== 0) throw new Error(`node ${args.join(" ")} ended with ${code}:\n${output}`);
  return output;
}

const LAST_CHARACTERS = 20_000;
