import { parseArgs } from "node:util";
import type { RunParameters } from "./suite.ts";

export interface Options {
  /** Names of suites; empty for all. */
  readonly suites: readonly string[];
  readonly parameters: RunParameters;
  /** The path of the JSON report. */
  readonly json: string | undefined;
  readonly list: boolean;
  /** Whether a miss makes the exit code 1. */
  readonly strict: boolean;
}

export const usage = `bench [options]
  --suite <name>   only this suite; may be given several times
  --list           print the names of the suites
  --rounds <n>     measured rounds (15; quick: 5)
  --seed <n>       seed of the order of the contenders (1)
  --quick          short slices, few rounds: a smoke test, whose figures must not be quoted
  --json <path>    where to write the JSON (results/latest.json; parts and quick runs: .cache/bench/latest.json)
  --strict         exit code 1 when a claim is missed`;

export function parseOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    // Some script runners pass the separator on.
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
