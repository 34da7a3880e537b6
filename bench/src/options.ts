import { parseArgs } from "node:util";
import type { RunParameters } from "./suite.ts";

export interface Options {
  /** Names of suites; none means all. */
  readonly suites: readonly string[];
  readonly parameters: RunParameters;
  /** Where the JSON goes. */
  readonly json: string | undefined;
  readonly list: boolean;
  /** Whether a miss makes the exit code 1. */
  readonly strict: boolean;
}

export const usage = `bench [options]
  --suite <name>   only this suite; may be given several times
  --list           name the suites and stop
  --rounds <n>     measured rounds (15; quick: 5)
  --seed <n>       the order of the contenders in the rounds (1)
  --quick          short slices, few rounds: to see that it runs, not to quote
  --json <path>    where to write the JSON (results/latest.json)
  --strict         exit code 1 when something wanted is missed`;

export function parseOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    // Some runners hand the separator on.
    args: args.filter((arg) => arg !== "--"),
    options: {
      suite: { type: "string", multiple: true, default: [] },
      rounds: { type: "string" },
      seed: { type: "string", default: "1" },
      json: { type: "string" },
      quick: { type: "boolean", default: false },
      list: { type: "boolean", default: false },
      strict: { type: "boolean", default: false },
    },
  });
  const { quick, list, strict, json, suite: suites } = values;
  const parameters = {
    quick,
    rounds: wholeNumber("--rounds", values.rounds ?? (quick ? "5" : "15"), 1),
    warmUpRounds: quick ? 2 : 4,
    sliceMs: quick ? 10 : 30,
    seed: wholeNumber("--seed", values.seed, 0),
  };
  return { suites, parameters, json, list, strict };
}

function wholeNumber(option: string, text: string, least: number): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < least)
    throw new RangeError(`${option} must be a whole number of ${least} or more, got ${JSON.stringify(text)}`);
  return value;
}
