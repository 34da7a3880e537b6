import { type GivenAddress, givenAddress } from "./address.ts";
import { addressVariable, type Kind, type ServerKind } from "./kinds.ts";
import { answers } from "./process/probe.ts";
import { type Found, firstFound, type Origin } from "./provision/source.ts";
import { findChromium } from "./recipes/chromium.ts";
import { kafka } from "./recipes/kafka.ts";
import type { KafkaOptions } from "./recipes/kafka-properties.ts";
import { type NatsOptions, nats } from "./recipes/nats.ts";
import type { Program, Recipe } from "./recipes/recipe.ts";
import { type RedisOptions, redis } from "./recipes/redis.ts";
import { until } from "./until.ts";

export interface ServerOptions {
  readonly redis: RedisOptions;
  readonly nats: NatsOptions;
  readonly kafka: KafkaOptions;
}

export const recipes: { readonly [K in ServerKind]: Recipe<ServerOptions[K]> } = { redis, nats, kafka };

/** The source of a server or browser, without starting it. */
export interface Provision {
  readonly kind: Kind;
  readonly origin: Origin;
  /** An address, a path or a folder, for output. */
  readonly detail: string;
  /** The limitations of a mock, and why the mock is used. */
  readonly limits?: string;
}

/**
 * Locates a kind, or fetches it. Rejects with `UnavailableError` when no source provides it. With `own` it must be a
 * server that can be killed, restarted and configured: neither an address nor a mock counts.
 */
export async function ensure(kind: Kind, { own = false } = {}): Promise<Provision> {
  if (kind === "chromium") {
    const { origin, executablePath } = await findChromium();
    return { kind, origin, detail: executablePath };
  }
  const given = own ? undefined : await findAddress(kind);
  if (given !== undefined) return { kind, origin: "address", detail: `${addressVariable[kind]}=${given.url}` };
  const { origin, value, missed } = await findProgram(kind, { own });
  const limits = value.limits === undefined ? {} : { limits: `${value.limits} (${missed.join("; ")})` };
  return { kind, origin, detail: value.detail, ...limits };
}

/**
 * Returns the server that the environment names. When it does not answer, that is an error: other sources would not be
 * what the user asked for.
 */
export async function findAddress(kind: ServerKind): Promise<GivenAddress | undefined> {
  const given = givenAddress(kind);
  if (given === undefined || given.tls) return given;
  const ready = await until(() => answers(given, recipes[kind].probe), { deadlineMs: 5_000, everyMs: 200 });
  if (ready === undefined)
    throw new Error(`${addressVariable[kind]} is set, but no ${kind} server answers at ${given.host}:${given.port}`);
  return given;
}

export function findProgram<K extends ServerKind>(
  kind: K,
  { own }: { readonly own: boolean },
): Promise<Found<Program<ServerOptions[K]>>> {
  const { sources } = recipes[kind] as Recipe<ServerOptions[K]>;
  return firstFound(kind, own ? sources.filter(({ origin }) => origin !== "mock") : sources);
}
