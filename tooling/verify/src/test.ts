/**
 * What `test` runs: all tests, then the quick cases of `verify`. With arguments, only Vitest with these arguments, so that
 * one file or one package can be run: `test packages/core`.
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

/** The exit code of Vitest. */
function runVitest(words: readonly string[]): Promise<number> {
  const child = spawn(process.execPath, [vitest, "run", ...words], { cwd: root, stdio: "inherit" });
  interrupted.signal.addEventListener("abort", () => child.kill("SIGTERM"));
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code) => resolve(code ?? 1));
  });
}

const all = ["unit", "integration", "browser"].flatMap((name) => ["--project", name]);
const testsCode = await runVitest(args.length > 0 ? args : all);
let code = testsCode;
if (args.length === 0 && !interrupted.signal.aborted) {
  const casesCode = await runVerify(["--quick", "--workers", `${2 * availableParallelism()}`], {
    root,
    env: process.env,
    print: (text) => console.log(text),
    printError: (text) => console.error(text),
    signal: interrupted.signal,
  });
  if (testsCode !== 0) console.error("Some tests failed; they are listed above, before the cases.");
  code = testsCode || casesCode;
}
process.exitCode = interrupted.signal.aborted ? 130 : code;
