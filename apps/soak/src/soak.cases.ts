import { fileURLToPath } from "node:url";
import { type Case, runProgram } from "@hivepace/verify";

const main = fileURLToPath(new URL("./main.ts", import.meta.url));

/** Swarms of processes on each real broker, with every fault in each round: no resource may grow or remain. */
export const cases: readonly Case[] = ["nats", "redis", "kafka"].map((broker) => ({
  id: `soak/${broker}`,
  seconds: 240,
  run: async () => {
    const output = await runProgram(main, ["--rounds", "4", "--agents", "6", "--seed", "11", broker]);
    return { summary: output.trimEnd().split("\n").at(-1) ?? "" };
  },
}));
