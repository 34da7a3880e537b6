import { parseArgs } from "node:util";
import { nearestOf } from "@hivepace/core/internal";
import { busKinds, parseBusAddress } from "@hivepace/open-bus";
import { type ScenarioName, scenarioNames, scenarios } from "./scenarios.ts";

export interface DemoOptions {
  /** A kind of bus, for which a server is started (memory needs none), or the address of a broker. */
  readonly bus: string;
  readonly agents: number;
  /** Limits per window of the demo; undefined: derived from the duration. */
  readonly rpm: number | undefined;
  readonly tpm: number | undefined;
  readonly scenario: ScenarioName;
  /** Duration of the run in real seconds. */
  readonly duration: number;
  readonly seed: number;
  readonly json: boolean;
  readonly headless: boolean;
  /** The port of the page; 0: any free port. */
  readonly port: number;
  /** The port of the Prometheus endpoint; 0: any free port. Undefined: the agents are not measured. */
  readonly metrics: number | undefined;
  /** Whether the same load also runs with other ways of sharing the limit. */
  readonly compare: boolean;
}

export const bounds = {
  agents: { least: 1, most: 64 },
  rpm: { least: 10, most: 6_000 },
  tpm: { least: 1_000, most: 20_000_000 },
  duration: { least: 10, most: 86_400 },
  seconds: { least: 10, most: 86_400 },
  seed: { least: 0, most: 2 ** 32 - 1 },
  port: { least: 0, most: 65_535 },
  metrics: { least: 0, most: 65_535 },
} as const;

const DEFAULTS = { bus: "memory", agents: 8, scenario: "cut", duration: 30, seed: 1, port: 0 } as const;

const OWN_SERVERS = `memory (default): agents are threads of this process. nats, redis, kafka: a server is
                        started, agents are processes. Or the address of a broker: nats://host:port, redis://host:port,
                        kafka://host:port[,host:port]`;
const NO_SERVERS = `memory (default): agents are threads of this process. Or the address of a broker, with agents as processes:
                        nats://host:port, redis://host:port, kafka://host:port[,host:port]`;

/** The usage text where servers can be started, and where they cannot. */
export const usage = usageOf(OWN_SERVERS);
export const usageWithoutServers = usageOf(NO_SERVERS);

function usageOf(bus: string): string {
  return `demo [options]        a swarm of agents on one rate-limited account, live, beside four other ways of sharing it

  --scenario <name>     ${DEFAULTS.scenario} by default:
${scenarioNames.map((name) => `                          ${name.padEnd(10)} ${scenarios[name].about}`).join("\n")}
  --bus <bus>           ${bus}
  --agents <n>          number of agents (default: ${DEFAULTS.agents})
  --rpm <n>             requests per minute that the provider allows; time runs faster in the demo (default: 40 per real second)
  --tpm <n>             tokens per minute (default: 1,000 per request)
  --seconds <n>         duration in real seconds (default: ${DEFAULTS.duration}); a minute of the demo is a sixth of it, 4 to 15 seconds.
                        --duration is an alias
  --seed <n>            the same seed makes the same load (default: ${DEFAULTS.seed})
  --no-compare          run only Hivepace, without the other rows
  --headless            do not open the page
  --port <n>            port of the page (default: any free port)
  --metrics <port>      serve the agents' metrics for Prometheus at http://127.0.0.1:<port>/metrics (0: any free port)
  --json                print one JSON object to stdout and the log to stderr; no page. With --compare also the other rows
  --help                show this text

Exit codes: 0 when the limit held and the swarm recovered, 1 when not, 2 for an invalid option, 130 when interrupted.`;
}

/** An invalid option, described in one line. */
export class OptionError extends Error {
  override readonly name = "OptionError";
}

/**
 * Returns undefined when the usage was requested. Throws an OptionError that names the option, the rule and the value.
 */
export function parseOptions(args: readonly string[]): DemoOptions | undefined {
  const values = read(args);
  if (values.help) return undefined;
  const scenario = values.scenario ?? DEFAULTS.scenario;
  if (!isScenario(scenario)) refuse("--scenario", `one of ${scenarioNames.join(", ")}`, scenario);
  const isJson = values.json ?? false;
  const headless = isJson || (values.headless ?? false);
  const port = count("port", values.port) ?? DEFAULTS.port;
  const metrics = count("metrics", values.metrics);
  if (metrics && metrics === port && !headless) refuse("--metrics", "another port than --port", metrics);
  return {
    bus: busOf(values.bus ?? DEFAULTS.bus),
    agents: count("agents", values.agents) ?? DEFAULTS.agents,
    rpm: count("rpm", values.rpm),
    tpm: count("tpm", values.tpm),
    scenario,
    duration: seconds(values) ?? DEFAULTS.duration,
    seed: count("seed", values.seed) ?? DEFAULTS.seed,
    json: isJson,
    headless,
    port,
    metrics,
    compare: (values.compare ?? !isJson) && !(values["no-compare"] ?? false),
  };
}

const text = { type: "string" } as const;
const flag = { type: "boolean" } as const;
const OPTIONS = {
  bus: text,
  agents: text,
  rpm: text,
  tpm: text,
  scenario: text,
  duration: text,
  seconds: text,
  seed: text,
  port: text,
  metrics: text,
  json: flag,
  headless: flag,
  compare: flag,
  "no-compare": flag,
  help: { type: "boolean", short: "h" },
} as const;

function read(args: readonly string[]) {
  try {
    return parseArgs({ args: args.filter((arg) => arg !== "--"), options: OPTIONS }).values;
  } catch (error) {
    // The first sentence of Node's message names the option; its further advice does not apply here.
    const first = String((error as Error).message).split(/[.\n]/)[0] ?? "";
    const [, unknown] = /^Unknown option '(.+?)'/.exec(first) ?? [];
    const nearest = unknown && nearestOf(unknown, Object.keys(OPTIONS));
    throw new OptionError(nearest ? `${first}: did you mean --${nearest}?` : first);
  }
}

/** `--duration` is an alias of `--seconds` that existing scripts use. */
function seconds(values: { seconds?: string | undefined; duration?: string | undefined }): number | undefined {
  if (values.seconds !== undefined && values.duration !== undefined)
    refuse("--seconds", "left out with --duration, which is the same", values.seconds);
  return count("seconds", values.seconds) ?? count("duration", values.duration);
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
