/**
 * The command `test`: all tests, and concurrently the quick cases of `verify`. With arguments, only Vitest with these
 * arguments, so that one file or one package can be run: `test packages/core`.
 */
import { spawn } from "node:child_process";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { runVerify } from "./run-verify.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const vitest = fileURLToPath(new URL("../../../node_modules/vitest/vitest.mjs", import.meta.url));
const args = process.argv.slice(2).filter((arg) => arg !== "--");

const interrupted = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => interrupted.abort());

/** Resolves with the exit code of Vitest. */
function runVitest(words: readonly string[]): Promise<number> {
  const child = spawn(process.execPath, [vitest, "run", ...words], { cwd: root, stdio: "inherit" });
  interrupted.signal.addEventListener("abort", () => child.kill("SIGTERM"));
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code) => resolve(code ?? 1));
  });
}

/** Prints at once, or holds the output until `flush`. */
class HeldOutput {
  #held: (() => void)[] | undefined = [];

  print(show: () => void): void {
    if (this.#held) this.#held.push(show);
    else show();
  }

  flush(): void {
    for (const show of this.#held ?? []) show();
    this.#held = undefined;
  }
}

/**
 * Resolves with the exit code of the quick cases. They run beside the tests, many of which wait, and print after them.
 */
function runCases(output: HeldOutput): Promise<number> {
  return runVerify(["--quick", "--workers", `${availableParallelism()}`], {
    root,
    env: process.env,
    print: (text) => output.print(() => console.log(text)),
    printError: (text) => output.print(() => console.error(text)),
    signal: interrupted.signal,
  });
}

const all = ["unit", "integration", "browser"].flatMap((name) => ["--project", name]);
const isWhole = args.length === 0;
const output = new HeldOutput();
const [testsCode, casesCode] = await Promise.all([
  runVitest(isWhole ? all : args).finally(() => output.flush()),
  isWhole ? runCases(output) : 0,
]);
if (isWhole && testsCode !== 0) console.error("Some tests failed; they are listed above, before the cases.");
process.exitCode = interrupted.signal.aborted ? 130 : testsCode || casesCode;
