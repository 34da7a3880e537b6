import { parseArgs } from "node:util";
import { FEWEST_ROUNDS } from "./judge.ts";
import { BROKERS, type BrokerKind } from "./words.ts";

/** What can happen to a swarm, in the words of `--faults`. */
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

/** What an agent can be told to leave behind on purpose, to see that it is found. */
const LEAKS = ["heap", "listener", "timer", "subscription", "key"] as const;
export type Leak = (typeof LEAKS)[number];

export interface Options {
  readonly brokers: readonly BrokerKind[];
  /** For all brokers together. */
  readonly minutes: number;
  /** So many on each broker, however long they take; undefined: as many as there is time for. */
  readonly rounds: number | undefined;
  readonly agents: number;
  /** Of the order of what happens, and to whom. */
  readonly seed: number;
  readonly faults: readonly Fault[];
  /** How long the broker may take to forget those who are gone. */
  readonly patienceMs: number;
  /** Only the figures of limit and use, in so many calm seconds for each broker. */
  readonly figures: number | undefined;
  readonly leaks: readonly Leak[];
}

export const usage = `swarm:soak [options] [broker…]        swarms of processes on real brokers, in real time

  nats redis kafka        on which, one after the other (default: all three)
  --minutes <n>           how long it takes, all brokers together (default: 7)
  --rounds <n>            so many rounds on each broker instead, at least ${FEWEST_ROUNDS}
  --agents <n>            processes of the swarm, at least 3 (default: 8)
  --seed <n>              of what happens when and to whom (default: by chance, and printed)
  --faults <a,b>          only these of ${FAULTS.join(", ")}
  --patience <seconds>    how long the broker may take to forget those who are gone (default: 60)
  --figures <seconds>     no rounds: sixteen processes, how much of the limit they use, how soon they cut and heal
  --help                  this text

In every round all faults happen, in another order; then all is calm, and what each process and the broker hold is looked
at. Ends with 1 when something grows or is left behind, with 2 for an option that is wrong, with 130 when interrupted.`;

/** Undefined when the usage should be shown. Throws a RangeError that says what is wrong. */
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
        // Not in the usage: it is there to see that the soak fails when it should.
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

/** Each once; without any, all. */
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
