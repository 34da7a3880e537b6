import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";

export interface Options {
  readonly isQuick: boolean;
  readonly only: readonly string[];
  readonly minutes: number | undefined;
  readonly seed: number | undefined;
  readonly workers: number;
  readonly shard: { readonly index: number; readonly of: number };
  readonly isList: boolean;
  readonly isVerbose: boolean;
}

export const usage = `verify [options]          long checks in worker processes: simulations, ablations, fuzzing, soak, runtimes

  --minutes <n>           time box: starts no case that does not fit, and rotates what is run, so that repeated runs
                          cover everything
  --seed <n>              part of the rotation with which a time box starts (default: the one after the last run)
  --only <text>           only cases whose id contains this text; may be given several times
  --quick                 only the cases that are part of "test"
  --shard 1/2             the first of two parts; a second machine runs the second
  --workers <n>           worker processes (default: one for each core)
  --list                  prints the ids of the selected cases and their estimated seconds, and runs nothing
  --verbose               prints every case, not only failed ones
  --help                  show this text

Writes .cache/verify/report.json and one log for each worker beside it. Exit codes: 0 all passed, 1 some failed,
2 invalid option, 130 interrupted.`;

/**
 * Returns undefined when the usage was requested. Throws a RangeError that names the option, the rule and the value.
 */
export function parseOptions(args: readonly string[]): Options | undefined {
  const values = read(args);
  if (values.help) return undefined;
  const { minutes, seed } = values;
  return {
    isQuick: values.quick ?? false,
    only: values.only ?? [],
    minutes: minutes === undefined ? undefined : positive("--minutes", minutes),
    seed: seed === undefined ? undefined : whole("--seed", seed, 0),
    workers: whole("--workers", values.workers ?? String(availableParallelism()), 1),
    shard: shard(values.shard ?? "1/1"),
    isList: values.list ?? false,
    isVerbose: values.verbose ?? false,
  };
}

function read(args: readonly string[]) {
  try {
    return parseArgs({
      args: args.filter((arg) => arg !== "--"),
      options: {
        help: { type: "boolean", short: "h" },
        quick: { type: "boolean" },
        only: { type: "string", multiple: true },
        minutes: { type: "string" },
        seed: { type: "string" },
        workers: { type: "string" },
        shard: { type: "string" },
        list: { type: "boolean" },
        verbose: { type: "boolean" },
      },
    }).values;
  } catch (error) {
    throw new RangeError((error as Error).message);
  }
}

function positive(option: string, text: string): number {
  const number = Number(text);
  if (!(number > 0 && number < Infinity))
    throw new RangeError(`${option} must be a number above 0, not ${JSON.stringify(text)}`);
  return number;
}

function whole(option: string, text: string, least: number): number {
  const number = Number(text);
  if (text.trim() === "" || !Number.isSafeInteger(number) || number < least)
    throw new RangeError(`${option} must be a whole number of at least ${least}, not ${JSON.stringify(text)}`);
  return number;
}

function shard(text: string): Options["shard"] {
  const [, index, of] = (/^(\d+)\/(\d+)$/.exec(text) ?? []).map(Number);
  if (!index || !of || index > of) throw new RangeError(`--shard must be like 1/2 or 2/2, not ${JSON.stringify(text)}`);
  return { index, of };
}
