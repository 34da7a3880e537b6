import { parseArgs } from "node:util";
import { FEWEST_ROUNDS } from "./judge.ts";
import { BROKERS, type BrokerKind } from "./words.ts";

/** The faults, by their names in `--faults`. */
export const FAULTS = [
  "refuse",
  "kill-broker",
  "stop-broker",
  "stop-agent",
  "kill-agent",
  "join-leave",
  "churn",
] as const;
export type Fault = (typeof FAULTS)[number];

/** Deliberate leaks of an agent, to see that the soak detects them. */
const LEAKS = ["heap", "listener", "timer", "subscription", "key"] as const;
export type Leak = (typeof LEAKS)[number];

export interface Options {
  readonly brokers: readonly BrokerKind[];
  /** Total duration, of all brokers together. */
  readonly minutes: number;
  /** Number of rounds on each broker, however long they take; undefined: as many as fit into the time. */
  readonly rounds: number | undefined;
  readonly agents: number;
  /** Seeds the order of the faults and the choice of their victims. */
  readonly seed: number;
  readonly faults: readonly Fault[];
  /** The time that the broker gets to remove the state of departed agents. */
  readonly patienceMs: number;
  /** Measure only the figures of limit and utilization, for this number of seconds per broker. */
  readonly figures: number | undefined;
  readonly leaks: readonly Leak[];
}

export const usage = `swarm:soak [options] [broker…]        swarms of processes on real brokers, in real time

  nats redis kafka        brokers to use, one after the other (default: all three)
  --minutes <n>           duration, all brokers together (default: 7)
  --rounds <n>            number of rounds on each broker instead, at least ${FEWEST_ROUNDS}
  --agents <n>            processes of the swarm, at least 3 (default: 8)
  --seed <n>              seed of the order and targets of faults (default: random, and printed)
  --faults <a,b>          only these of ${FAULTS.join(", ")}
  --patience <seconds>    time the broker gets to remove the state of departed agents (default: 60)
  --figures <seconds>     no rounds: measure utilization, cuts and recovery with sixteen processes
  --help                  show this text

Every round injects all faults, in random order, then pauses all calls and measures the resources of each process and of
the broker. Exit codes: 0 when no resource grows or remains, 1 when one does, 2 for an invalid option, 130 when interrupted.`;

/** Returns undefined when the usage was requested. Throws a RangeError that names option, rule and value. */
export function parseOptions(args: readonly string[], random: () => number = Math.random): Options | undefined {
  const { values, positionals } = read(args);
  if (values.help) return undefined;
  return {
    brokers: some("a broker", positionals, BROKERS),
    minutes: amount("--minutes", values.minutes ?? "7"),
    rounds: values.rounds === undefined ? undefined : whole("--rounds", values.rounds, FEWEST_ROUNDS),
    agents: whole("--agents", values.agents ?? "8", 3),
    seed: values.seed === undefined ? Math.floor(random() * 1_000_000) : whole("--seed", values.seed, 0),
    faults: some("--faults", list(values.faults), FAULTS),
    patienceMs: 1_000 * amount("--patience", values.patience ?? "60"),
    figures: values.figures === undefined ? undefined : amount("--figures", values.figures),
    leaks: values.leak === undefined ? [] : some("--leak", list(values.leak), LEAKS),
  };
}

function read(args: readonly string[]) {
  try {
    return parseArgs({
      args: args.filter((arg) => arg !== "--"),
      allowPositionals: true,
      options: {
        help: { type: "boolean", short: "h" },
        minutes: { type: "string" },
        rounds: { type: "string" },
        agents: { type: "string" },
        seed: { type: "string" },
        faults: { type: "string" },
        patience: { type: "string" },
        figures: { type: "string" },
        // Missing in the usage, because it only serves to see that the soak fails when it should.
        leak: { type: "string" },
      },
    });
  } catch (error) {
    throw new RangeError((error as Error).message);
  }
}

function list(text: string | undefined): string[] {
  return text === undefined ? [] : text.split(",").map((part) => part.trim());
}

/** Returns the given names, each once; without any, all known ones. */
function some<T extends string>(option: string, given: readonly string[], known: readonly T[]): readonly T[] {
  const unknown = given.find((name) => !(known as readonly string[]).includes(name));
  if (unknown !== undefined)
    throw new RangeError(`${option} must be one of ${known.join(", ")}, not ${JSON.stringify(unknown)}`);
  return given.length === 0 ? known : [...new Set(given as T[])];
}

function amount(option: string, text: string): number {
  const number = Number(text);
  if (!(text.trim() !== "" && number > 0 && number < Infinity))
    throw new RangeError(`${option} must be a number above 0, not ${JSON.stringify(text)}`);
  return number;
}

function whole(option: string, text: string, least: number): number {
  const number = Number(text);
  if (!(text.trim() !== "" && Number.isSafeInteger(number) && number >= least))
    throw new RangeError(`${option} must be a whole number from ${least} on, not ${JSON.stringify(text)}`);
  return number;
}
