import { fileURLToPath } from "node:url";
import { type Case, runProgram } from "@hivepace/verify";
import { runtimes } from "./runtimes.ts";

const main = fileURLToPath(new URL("./main.ts", import.meta.url));

/** The smoke program is one case for all runtimes, because the packages are packed once for all of them. */
export const cases: readonly Case[] = [
  { id: "runtimes/smoke", seconds: 180, run: () => run("--no-unit") },
  ...runtimes
    .filter(({ kind }) => kind === "node")
    .map(({ id }) => ({
      id: `runtimes/unit-tests-on-${id}`,
      seconds: 100,
      run: () => run("--no-smoke", "--only", id),
    })),
];

async function run(...args: string[]) {
  const output = await runProgram(main, args);
  return { summary: output.trimEnd().split("\n").slice(-2).join("; ") };
}
