import { parseArgs } from "node:util";
import { chooseRuntimes, type Runtime, runtimes } from "./runtimes.ts";

export const usage = `Runs the unit tests on every supported Node, and a smoke program on Node, Bun and Deno.

  --only <ids>   only these runtimes, separated by commas: ${runtimes.map(({ id }) => id).join(", ")}
  --no-unit      only the smoke program
  --no-smoke     only the unit tests
  --list         print the runtimes and their versions
  --outdated     print which of them have a newer release on npm
  --help         print this text`;

export interface Options {
  readonly action: "run" | "list" | "outdated" | "help";
  readonly runtimes: readonly Runtime[];
  readonly hasUnitTests: boolean;
  readonly hasSmoke: boolean;
}

/** Throws a RangeError that names the option, the rule and the value. */
export function parseOptions(args: readonly string[]): Options {
  const { only, unit, smoke, list, outdated, help } = read(args);
  const ids = only?.split(",").map((id) => id.trim());
  return {
    action: help ? "help" : list ? "list" : outdated ? "outdated" : "run",
    runtimes: ids ? chooseRuntimes(ids) : runtimes,
    hasUnitTests: unit !== false,
    hasSmoke: smoke !== false,
  };
}

function read(args: readonly string[]) {
  const flag = { type: "boolean" } as const;
  const options = {
    only: { type: "string" },
    unit: flag,
    smoke: flag,
    list: flag,
    outdated: flag,
    help: flag,
  } as const;
  try {
    return parseArgs({ args: [...args], options, allowNegative: true, strict: true }).values;
  } catch (error) {
    throw new RangeError((error as Error).message, { cause: error });
  }
}
