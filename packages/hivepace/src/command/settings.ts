import { type ResolvedNamespace, resolveNamespace } from "@hivepace/namespace";
import { type BusKind, parseBusAddress, shownAddress } from "@hivepace/open-bus";
import type { OptionSpecs, Values } from "./options.ts";
import { parseDuration } from "./text/duration.ts";
import { refuse, UsageError } from "./usage-error.ts";
import type { World } from "./world.ts";

/** What every command has. */
export const commonOptions = {
  json: { about: "for machines" },
  help: { about: "this text" },
} as const satisfies OptionSpecs;

/** What every command has that looks at a swarm. */
export const swarmOptions = {
  bus: {
    value: "<address>",
    about:
      "where the agents meet: nats://host:port, redis://host:port or kafka://host:port[,host:port]. Default: HIVEPACE_BUS, where a password is not seen by others on this machine",
  },
  namespace: {
    value: "<name>",
    about:
      'the agents\' own; an empty one for agents that have none. Default: as the agents find theirs, from REDIS_NAMESPACE, ENSEMBLE_ENVIRONMENT or HIVEPACE_ENVIRONMENT, else "default"',
  },
  timeout: { value: "<duration>", about: "how long a server may take to answer. Default: 5s" },
} as const satisfies OptionSpecs;

/** What all commands say that look at a swarm. */
export const SECRET_NOTE =
  "Agents that sign their messages have a secret: it is read from HIVEPACE_SECRET, and while it is changed also from HIVEPACE_SECRET_PREVIOUS.";

const TIMEOUT_MS = 5_000;

export interface SwarmSettings {
  /** Undefined where there is none. */
  readonly bus: string | undefined;
  readonly busFrom: "--bus" | "HIVEPACE_BUS";
  readonly namespace: Namespace;
  readonly secret: string | readonly [string, string] | undefined;
  readonly timeoutMs: number;
  readonly json: boolean;
}

/** Which one, and how it came about. "" means that subjects have no prefix. */
export type Namespace = Pick<ResolvedNamespace, "namespace"> & { readonly source: string };

/** Throws a UsageError. */
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
    timeoutMs: values.timeout === undefined ? TIMEOUT_MS : parseDuration("--timeout", values.timeout),
    json: values.json ?? false,
  };
}

/** Throws a UsageError when there is none. */
export function neededBus({ bus }: SwarmSettings): string {
  if (bus === undefined) throw new UsageError("which bus? --bus nats://host:port, or set HIVEPACE_BUS");
  return bus;
}

/** For people: `"prod", from HIVEPACE_ENVIRONMENT`. */
export function shownNamespace({ namespace, source }: Namespace): string {
  if (namespace === "") return "none, as asked for";
  const from = source === "option" ? "as asked for" : source === "default" ? "since none is set" : `from ${source}`;
  return `${JSON.stringify(namespace)}, ${from}`;
}

function checkBus(bus: string, from: string): void {
  if (kindOf(bus, from) === "memory")
    refuse(from, "a broker: what is in memory is heard in its own process alone", bus);
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
