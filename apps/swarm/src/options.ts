import { parseArgs } from "node:util";
import { busKinds, parseBusAddress } from "@hivepace/open-bus";
import { type ScenarioName, scenarioNames, scenarios } from "./scenarios.ts";

export interface DemoOptions {
  /** A kind, for a server of our own (or none, for memory); or an address. */
  readonly bus: string;
  readonly agents: number;
  /** In each window of the demo. */
  readonly rpm: number | undefined;
  readonly tpm: number | undefined;
  readonly scenario: ScenarioName;
  /** Seconds of the run itself. */
  readonly duration: number;
  readonly seed: number;
  readonly json: boolean;
  readonly headless: boolean;
  /** Of the page; 0: any. */
  readonly port: number;
  /** The port of what Prometheus reads; 0: any. Undefined: the agents measure nothing. */
  readonly metrics: number | undefined;
  /** Afterwards the same load without Hivepace, and with every agent for itself. */
  readonly compare: boolean;
}

export const bounds = {
  agents: { least: 1, most: 64 },
  rpm: { least: 10, most: 6_000 },
  tpm: { least: 1_000, most: 20_000_000 },
  duration: { least: 10, most: 86_400 },
  seed: { least: 0, most: 2 ** 32 - 1 },
  port: { least: 0, most: 65_535 },
  metrics: { least: 0, most: 65_535 },
} as const;

const DEFAULTS = { bus: "memory", agents: 8, scenario: "cut", duration: 28, seed: 1, port: 0 } as const;

const OWN_SERVERS = `memory (default): agents are threads of this process. nats, redis, kafka: a server of its own is
                        started, agents are processes. Or where one is: nats://host:port, redis://host:port,
                        kafka://host:port[,host:port]`;
const NO_SERVERS = `memory (default): agents are threads of this process. Or where a broker is, and agents are processes:
                        nats://host:port, redis://host:port, kafka://host:port[,host:port]`;

/** Where servers can be started, and where they cannot. */
export const usage = usageOf(OWN_SERVERS);
export const usageWithoutServers = usageOf(NO_SERVERS);

function usageOf(bus: string): string {
  return `demo [options]        a swarm of agents against a provider that enforces its limit, live

  --scenario <name>     ${DEFAULTS.scenario} by default:
${scenarioNames.map((name) => `                          ${name.padEnd(10)} ${scenarios[name].about}`).join("\n")}
  --bus <bus>           ${bus}
  --agents <n>          how many (default: ${DEFAULTS.agents})
  --rpm <n>             requests that the provider allows in a minute; a minute is short here (default: 30 a second)
  --tpm <n>             tokens (default: 2,000 for each request)
  --duration <seconds>  of the run (default: ${DEFAULTS.duration}); a minute of the demo is a quarter of it, 2.5 to 15 seconds
  --seed <n>            the same seed makes the same load (default: ${DEFAULTS.seed})
  --no-compare          only the run itself, without the same load "without" and "alone" after it
  --headless            no page
  --port <n>            of the page (default: any that is free)
  --metrics <port>      what the agents measure, for Prometheus: http://127.0.0.1:<port>/metrics (0: any port that is free)
  --json                one JSON object on stdout and nothing else; no page, no comparison
  --help                this text

Ends with 0 when the limit held and the swarm recovered, with 1 when not, with 2 for an option that is wrong, with 130 when
it was interrupted.`;
}

/** What is wrong with an option, in one line. */
export class OptionError extends Error {
  override readonly name = "OptionError";
}

/** Undefined when the usage should be shown. Throws an OptionError that names option, rule and value. */
export function parseOptions(args: readonly string[]): DemoOptions | undefined {
  const values = read(args);
  if (values.help) return undefined;
  const scenario = values.scenario ?? DEFAULTS.scenario;
  if (!isScenario(scenario)) refuse("--scenario", `one of ${scenarioNames.join(", ")}`, scenario);
  const isJson = values.json ?? false;
  if (isJson && values.compare) refuse("--compare", "left out with --json", true);
  const headless = isJson || (values.headless ?? false);
  const port = count("port", values.port) ?? DEFAULTS.port;
  const metrics = count("metrics", values.metrics);
  if (metrics !== undefined && scenario === "without") refuse("--metrics", "left out with --scenario without", metrics);
  if (metrics && metrics === port && !headless) refuse("--metrics", "another port than --port", metrics);
  return {
    bus: busOf(values.bus ?? DEFAULTS.bus),
    agents: count("agents", values.agents) ?? DEFAULTS.agents,
    rpm: count("rpm", values.rpm),
    tpm: count("tpm", values.tpm),
    scenario,
    duration: count("duration", values.duration) ?? DEFAULTS.duration,
    seed: count("seed", values.seed) ?? DEFAULTS.seed,
    json: isJson,
    headless,
    port,
    metrics,
    compare: (values.compare ?? true) && !(values["no-compare"] ?? false) && !isJson,
  };
}

function read(args: readonly string[]) {
  const text = { type: "string" } as const;
  const flag = { type: "boolean" } as const;
  try {
    return parseArgs({
      args: args.filter((arg) => arg !== "--"),
      options: {
        bus: text,
        agents: text,
        rpm: text,
        tpm: text,
        scenario: text,
        duration: text,
        seed: text,
        port: text,
        metrics: text,
        json: flag,
        headless: flag,
        compare: flag,
        "no-compare": flag,
        help: { type: "boolean", short: "h" },
      },
    }).values;
  } catch (error) {
    // Node's own sentence names the option; what it advises beyond that is about other programs.
    throw new OptionError(String((error as Error).message).split(/[.\n]/)[0] ?? "");
  }
}

function isScenario(name: string): name is ScenarioName {
  return (scenarioNames as readonly string[]).includes(name);
}

function busOf(text: string): string {
  if ((busKinds as readonly string[]).includes(text)) return text;
  try {
    const { kind } = parseBusAddress(text);
    if (kind !== "memory") return text;
  } catch (error) {
    throw new OptionError(
      `--${(error as Error).message.replace('"memory", "memory:name",', `${busKinds.join(", ")},`)}`,
    );
  }
  return refuse("--bus", `${busKinds.join(", ")} or an address`, text);
}

function count(option: keyof typeof bounds, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const { least, most } = bounds[option];
  const number = Number(text);
  if (text.trim() === "" || !Number.isInteger(number) || number < least || number > most)
    refuse(`--${option}`, `a whole number from ${least} to ${most}`, text);
  return number;
}

function refuse(option: string, rule: string, value: unknown): never {
  throw new OptionError(`${option} must be ${rule}, got ${JSON.stringify(value)}`);
}
