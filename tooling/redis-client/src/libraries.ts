import { type Ioredis, ioredisOpener } from "./ioredis-opener.ts";
import type { NodeRedisLibrary } from "./node-redis/library.ts";
import { nodeRedisOpener } from "./node-redis/opener.ts";
import type { RedisPlace } from "./options.ts";
import type { AnyRedisClient, RedisClient, RedisClusterClient } from "./port.ts";

/** Creates clients for one location. A client is not connected yet, and connects at most once. */
export interface Opener {
  readonly isCluster: boolean;
  /** Creates a client of the server, or of the master that the Sentinels name. */
  server(): RedisClient;
  /**
   * Creates a client of the Cluster. `retryMs` returns the pause before another attempt; without it there is one
   * attempt.
   */
  cluster(retryMs?: (failures: number) => number): RedisClusterClient;
  /** Creates a client of the server or of the Cluster, depending on the location. */
  open(): AnyRedisClient;
}

type Load = (name: string) => Promise<unknown>;

/**
 * The names are literal so that bundlers see the imports, and stand in a `try` so that bundlers accept that most programs have
 * installed only one of the libraries.
 */
async function load(name: string): Promise<unknown> {
  try {
    return name === "ioredis" ? await import("ioredis") : await import("redis");
  } catch (error) {
    throw error instanceof Error ? error : new Error(String(error));
  }
}

/**
 * Loads the client library. `timeoutMs` limits one attempt to connect.
 *
 * @throws MissingClientError naming the package to install.
 */
export async function openerOf(place: RedisPlace, timeoutMs: number, from: Load = load): Promise<Opener> {
  const names = place.client === undefined ? ["ioredis", "redis"] : [place.client];
  let failure: unknown;
  for (const name of names) {
    let library: unknown;
    try {
      library = unwrap(await from(name));
    } catch (error) {
      // An error of an installed library is more informative than a missing library.
      if (failure === undefined || !isMissing(error)) failure = error;
      continue;
    }
    return name === "ioredis"
      ? ioredisOpener(library as Ioredis, place, timeoutMs)
      : nodeRedisOpener(library as NodeRedisLibrary, place, timeoutMs);
  }
  throw new MissingClientError(names, failure);
}

/** No client library could be loaded. */
export class MissingClientError extends Error {
  constructor(names: readonly string[], cause: unknown) {
    const reason = (cause as Error).message.trim();
    const install = names.map((name) => `npm install ${name}`).join(" (or ");
    super(`no Redis client is installed: ${install}${names.length > 1 ? ")" : ""} (import failed: ${reason})`, {
      cause,
    });
  }
}

function isMissing(error: unknown): boolean {
  return /MODULE_NOT_FOUND/.test(String((error as { code?: unknown }).code));
}

/** A CommonJS module has all its exports in `default`, but not always as named exports too. */
function unwrap(loaded: unknown): unknown {
  const module = loaded as { default?: object; Redis?: unknown; createClient?: unknown };
  return (module.Redis ?? module.createClient) ? module : (module.default ?? module);
}
