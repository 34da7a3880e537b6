import { type ResolvedNamespace, resolveNamespace } from "@hivepace/namespace";
import { type BusKind, parseBusAddress, shownAddress } from "@hivepace/open-bus";
import type { OptionSpecs, Values } from "./options.ts";
import { parseDuration } from "./text/duration.ts";
import { refuse, UsageError } from "./usage-error.ts";
import type { World } from "./world.ts";

/** Options of every command. */
export const commonOptions = {
  json: { about: "print JSON" },
  help: { about: "print this text" },
} as const satisfies OptionSpecs;

/** Options of every command that connects to a swarm. */
export const swarmOptions = {
  bus: {
    value: "<address>",
    about:
      "the bus of the agents: nats://host:port, redis://host:port or kafka://host:port[,host:port]. Default: HIVEPACE_BUS, which hides a password from other users of this machine",
  },
  namespace: {
    value: "<name>",
    about:
      'the namespace of the agents; empty for agents without one. Default: resolved as by the agents, from REDIS_NAMESPACE, ENSEMBLE_ENVIRONMENT or HIVEPACE_ENVIRONMENT, else "default"',
  },
  timeout: { value: "<duration>", about: "how long a server may take to answer. Default: 5s" },
} as const satisfies OptionSpecs;

/** Shared paragraph in the help of every command that connects to a swarm. */
export const SECRET_NOTE =
  "The secret of agents that sign their messages is read from HIVEPACE_SECRET, and during a rotation also from HIVEPACE_SECRET_PREVIOUS. Their swarmId, if they have one, is read from HIVEPACE_SWARM_ID.";

const TIMEOUT_MS = 5_000;

export interface SwarmSettings {
  /** The address of the bus; undefined if none is given. */
  readonly bus: string | undefined;
  readonly busFrom: "--bus" | "HIVEPACE_BUS";
  readonly namespace: Namespace;
  readonly secret: string | readonly [string, string] | undefined;
  readonly swarmId: string | undefined;
  readonly timeoutMs: number;
  readonly json: boolean;
}

/** The namespace and the rule that determined it. "" means that subjects have no prefix. */
export type Namespace = Pick<ResolvedNamespace, "namespace"> & { readonly source: string };

/**
 * Reads the common settings from options and environment.
 *
 * @throws UsageError when a setting is invalid.
 */
export function swarmSettings(
  values: Values<typeof swarmOptions & typeof commonOptions>,
  { env }: Pick<World, "env">,
): SwarmSettings {
  const bus = values.bus ?? (env["HIVEPACE_BUS"] || undefined);
  const busFrom = values.bus === undefined ? "HIVEPACE_BUS" : "--bus";
  if (bus !== undefined) checkBus(bus, busFrom);
  return {
    bus,
    busFrom,
    namespace: namespaceOf(values.namespace, env),
    secret: secretOf(env),
    swarmId: env["HIVEPACE_SWARM_ID"] || undefined,
    timeoutMs: values.timeout === undefined ? TIMEOUT_MS : parseDuration("--timeout", values.timeout),
    json: values.json ?? false,
  };
}

/**
 * Returns the address of the bus.
 *
 * @throws UsageError when none is given.
 */
export function neededBus({ bus }: SwarmSettings): string {
  if (bus === undefined) throw new UsageError("no bus given: pass --bus nats://host:port or set HIVEPACE_BUS");
  return bus;
}

/** Describes a namespace for output: `"prod", from HIVEPACE_ENVIRONMENT`. */
export function shownNamespace({ namespace, source }: Namespace): string {
  if (namespace === "") return "none, from --namespace";
  const from = source === "option" ? "from --namespace" : source === "default" ? "the default" : `from ${source}`;
  return `${JSON.stringify(namespace)}, ${from}`;
}

function checkBus(bus: string, from: string): void {
  if (kindOf(bus, from) === "memory")
    refuse(from, "the address of a broker: a bus in memory cannot be reached from another process", bus);
}

function kindOf(bus: string, from: string): BusKind {
  try {
    return parseBusAddress(bus).kind;
  } catch (error) {
    const { rule = "" } = error as { rule?: string };
    return refuse(from, rule.replace('"memory", "memory:name", ', ""), shownAddress(bus));
  }
}

function namespaceOf(given: string | undefined, env: World["env"]): Namespace {
  if (given === "") return { namespace: "", source: "option" };
  return resolveNamespace({ namespace: given, env: { ...env } });
}

function secretOf(env: World["env"]): SwarmSettings["secret"] {
  const { HIVEPACE_SECRET: secret, HIVEPACE_SECRET_PREVIOUS: previous } = env;
  if (!secret) return undefined;
  return previous ? [secret, previous] : secret;
}
