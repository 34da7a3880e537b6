import { type SyncStore, SyncUnavailableError } from "@hivepace/core";
import { messageOf } from "@hivepace/core/internal";
import { isMissing, loadAdapter, shownAddress } from "@hivepace/open-bus";
import { type RedisPlace as Place, redisPlace } from "@hivepace/redis-client";
import { abortable } from "../abortable.ts";
import type { Namespace } from "../settings.ts";
import { refuse, UsageError } from "../usage-error.ts";
import type { World } from "../world.ts";

/** The part of an ioredis client that is used. */
interface Client {
  call(command: string, ...args: string[]): Promise<unknown>;
  on(event: "error", listener: (error: unknown) => void): unknown;
  connect(): Promise<void>;
  disconnect(): void;
}

interface ClusterClient extends Client {
  nodes(role: "master"): Client[];
}

interface Library {
  readonly Redis: new (options: object) => Client;
  readonly Cluster: new (nodes: readonly unknown[], options: object) => ClusterClient;
}

interface SyncModule {
  redisSync(client: unknown, options: object): Promise<SyncStore>;
}

export const REDIS_PACKAGES = ["@hivepace/sync-redis", "ioredis"] as const;

/** A connected Redis: one server, or the Cluster that the server belongs to. */
export interface OpenRedis {
  readonly isCluster: boolean;
  call(command: string, ...args: string[]): Promise<unknown>;
  /** The nodes that hold keys: the server itself, or the masters of a Cluster. */
  nodes(): readonly Pick<Client, "call">[];
  store(): Promise<SyncStore>;
  close(): void;
}

export interface RedisPlace {
  readonly url: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/**
 * Returns the URL from the option, or else from the environment; `undefined` if neither is set.
 *
 * @throws UsageError when the URL or the namespace is invalid.
 */
export function redisUrl(
  given: string | undefined,
  { namespace }: Namespace,
  { env }: Pick<World, "env">,
): string | undefined {
  const url = given ?? (env["HIVEPACE_REDIS"] || undefined);
  if (url === undefined) return undefined;
  const from = given === undefined ? "HIVEPACE_REDIS" : "--redis";
  if (!placeOf(url)) refuse(from, "redis://host:port or rediss://host:port", shownAddress(url));
  if (namespace === "")
    throw new UsageError("--namespace must not be empty with --redis: counts in Redis always have a namespace");
  return url;
}

function placeOf(url: string): Place | undefined {
  try {
    return redisPlace({ url });
  } catch {
    return undefined;
  }
}

/**
 * Connects to Redis, with a single attempt.
 *
 * @throws SyncUnavailableError when Redis cannot be reached; the message names the packages to install if they are
 * missing.
 */
export async function openRedis({ url, timeoutMs, signal }: RedisPlace): Promise<OpenRedis> {
  const { Redis, Cluster } = await loadRedis<Library>("ioredis");
  const { server, login, tls, others } = redisPlace({ url });
  const given = Object.entries({ ...others, ...login, tls }).filter(([, value]) => value !== undefined);
  const { db, ...access } = Object.fromEntries(given);
  // A user is waiting, so there is only one attempt.
  const settings = { connectTimeout: timeoutMs, commandTimeout: timeoutMs, maxRetriesPerRequest: 0 };
  const once = { ...settings, lazyConnect: true, enableReadyCheck: false, retryStrategy: () => null };
  const first = new Redis({ ...access, ...server, ...(db !== undefined && { db }), ...once });
  try {
    await reach(first, signal, timeoutMs);
    if (!(await isClusterNode(first))) return opened(first, () => [first], false, timeoutMs);
    first.disconnect();
    const redisOptions = { ...access, ...settings, enableReadyCheck: false };
    const cluster = new Cluster([server], { lazyConnect: true, clusterRetryStrategy: () => null, redisOptions });
    await reach(cluster, signal, timeoutMs);
    return opened(cluster, () => cluster.nodes("master"), true, timeoutMs);
  } catch (error) {
    first.disconnect();
    if (signal.aborted) throw error;
    throw new SyncUnavailableError("redis", messageOf(error), { cause: error });
  }
}

/** Imports a package. Rejects with SYNC_UNAVAILABLE when the package is not installed. */
export async function loadRedis<T>(name: (typeof REDIS_PACKAGES)[number]): Promise<T> {
  try {
    return (await loadAdapter(name)) as T;
  } catch (cause) {
    if (!isMissing(cause, name)) throw cause;
    const line = `the adapter is not installed: npm install ${REDIS_PACKAGES.join(" ")}`;
    throw new SyncUnavailableError("redis", line, { cause });
  }
}

function opened(client: Client, nodes: OpenRedis["nodes"], isCluster: boolean, timeoutMs: number): OpenRedis {
  return {
    isCluster,
    call: (command, ...args) => client.call(command, ...args),
    nodes,
    store: async () => {
      const { redisSync } = await loadRedis<SyncModule>("@hivepace/sync-redis");
      return redisSync(client, { connectTimeoutMs: timeoutMs, syncTimeoutMs: timeoutMs });
    },
    close: () => client.disconnect(),
  };
}

/**
 * Connects and pings. The final error of ioredis only names its last step, so the first emitted error is used as the
 * cause.
 */
async function reach(client: Client, signal: AbortSignal, timeoutMs: number): Promise<void> {
  let cause: unknown;
  client.on("error", (error) => {
    cause ??= error;
  });
  // A Cluster that is not up would keep the client waiting for ever.
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
  const over = AbortSignal.any([signal, late.signal]);
  try {
    await abortable(client.connect(), over);
    await abortable(client.call("PING"), over);
  } catch (error) {
    client.disconnect();
    throw cause ?? error;
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Whether the server belongs to a Cluster. A user without the right to INFO is treated as connected to a single server.
 */
async function isClusterNode(client: Client): Promise<boolean> {
  const info = await client.call("INFO", "cluster").catch(() => "");
  return /cluster_enabled:1/.test(String(info));
}
