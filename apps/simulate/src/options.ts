import { parseArgs } from "node:util";
import type { Drive } from "@hivepace/distributed/testing";

export interface Options {
  /** The code that the scenarios and the mixed faults run. */
  readonly drive: Drive;
  readonly agents: readonly number[];
  readonly seeds: number;
  readonly filter: RegExp;
  /** The pattern as given. */
  readonly only: string;
  readonly mixed: number;
  readonly compare: boolean;
  readonly soakHours: number;
  /** The part of the scenarios and seeds to run, for several processes in parallel. */
  readonly shard: { readonly index: number; readonly of: number };
  readonly charts: string | undefined;
  /** Whether to draw each run in the terminal; undefined: when there are few. */
  readonly chart: boolean | undefined;
  readonly json: boolean;
}

export const usage = `simulate [options]        simulate swarms in virtual time, on the published code

  --all                   every scenario with 10 and 100 agents, those of three minutes with 1,000, 5,000 seeds of mixed
                          faults, a day's soak: some two hours of one core
  --drive <name>          the code that runs: engine (default), hive or limiter; the last two are the objects that
                          programs use, on a simulated bus, store and clock, and take five times as long. Scenarios that
                          limit requests and tokens at once are left out with limiter
  --agents 10,100         every scenario with these numbers of agents (default: 10); above 300 only those that take three
                          virtual minutes at most, others by --only
  --only <pattern>        only scenarios whose name matches this regular expression
  --seeds <n>             number of seeds for each scenario (default: 1)
  --mixed <n>             number of seeds of mixed faults (default: 0)
  --compare               compare Hivepace with other schemes
  --soak <hours>          mixed faults for this number of virtual hours
  --shard 1/2             the first of two parts of the scenarios and seeds: a second process runs the second part
  --chart                 draw each run in the terminal (default: when there are at most 12)
  --no-chart              draw no run
  --charts <folder>       write the charts of the documentation to this folder
  --json                  print one line of JSON per run
  --help                  show this text

Exit codes: 0 when all bounds hold, 1 when one does not, 2 for an invalid option, 130 when interrupted.`;

/** Returns undefined when the usage was requested. Throws a RangeError that names option, rule and value. */
export function parseOptions(args: readonly string[]): Options | undefined {
  const { values } = read(args);
  if (values.help) return undefined;
  const isAll = values.all ?? false;
  const isOther =
    values.mixed !== undefined || values.compare || values.soak !== undefined || values.charts !== undefined;
  const sizes = values.agents ?? (isAll ? "10,100,1000" : isOther ? "" : "10");
  return {
    drive: drive(values.drive ?? "engine"),
    agents: sizes === "" ? [] : sizes.split(",").map((size) => count("--agents", size)),
    seeds: count("--seeds", values.seeds ?? "1"),
    filter: pattern(values.only ?? ""),
    only: values.only ?? "",
    mixed: values.mixed === undefined ? (isAll ? 5_000 : 0) : count("--mixed", values.mixed),
    compare: values.compare ?? isAll,
    soakHours: values.soak === undefined ? (isAll ? 24 : 0) : count("--soak", values.soak),
    shard: shard(values.shard ?? "1/1"),
    charts: values.charts,
    chart: values["no-chart"] ? false : values.chart,
    json: values.json ?? false,
  };
}

function read(args: readonly string[]) {
  try {
    return parseArgs({
      args: args.filter((arg) => arg !== "--"),
      options: {
        help: { type: "boolean", short: "h" },
        all: { type: "boolean" },
        drive: { type: "string" },
        agents: { type: "string" },
        only: { type: "string" },
        seeds: { type: "string" },
        mixed: { type: "string" },
        compare: { type: "boolean" },
        soak: { type: "string" },
        shard: { type: "string" },
        chart: { type: "boolean" },
        "no-chart": { type: "boolean" },
        charts: { type: "string" },
        json: { type: "boolean" },
      },
    });
  } catch (error) {
    throw new RangeError((error as Error).message);
  }
}

function drive(name: string): Drive {
  if (name !== "engine" && name !== "hive" && name !== "limiter")
    throw new RangeError(`--drive must be engine, hive or limiter, not ${JSON.stringify(name)}`);
  return name;
}

function pattern(text: string): RegExp {
  try {
    return new RegExp(text);
  } catch {
    throw new RangeError(`--only must be a regular expression, not ${JSON.stringify(text)}`);
  }
}

function shard(text: string): Options["shard"] {
  const [, index, of] = (/^(\d+)\/(\d+)$/.exec(text) ?? []).map(Number);
  if (!index || !of || index > of) throw new RangeError(`--shard must be like 1/2 or 2/2, not ${JSON.stringify(text)}`);
  return { index, of };
}

function count(option: string, text: string): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1)
    throw new RangeError(`${option} must be a whole number from 1 on, not ${JSON.stringify(text)}`);
  return number;
}
