import { type SyncStore, SyncUnavailableError } from "@hivepace/core";
import { isMissing, loadAdapter, shownAddress } from "@hivepace/open-bus";
import { abortable } from "../abortable.ts";
import type { Namespace } from "../settings.ts";
import { refuse, UsageError } from "../usage-error.ts";
import type { World } from "../world.ts";

/** What this needs of a client of ioredis. */
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
  readonly Redis: new (url: string, options: object) => Client;
  readonly Cluster: new (nodes: readonly string[], options: object) => ClusterClient;
}

interface SyncModule {
  redisSync(client: unknown, options: object): Promise<SyncStore>;
}

export const REDIS_PACKAGES = ["@hivepace/sync-redis", "ioredis"] as const;

/** A Redis that answers: one server, or the Cluster that the server is a node of. */
export interface OpenRedis {
  readonly isCluster: boolean;
  call(command: string, ...args: string[]): Promise<unknown>;
  /** Those that hold keys: the server itself, or a Cluster's masters. */
  nodes(): readonly Pick<Client, "call">[];
  store(): Promise<SyncStore>;
  close(): void;
}

export interface RedisPlace {
  readonly url: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** The option, or the environment's; undefined where there is none. Throws a UsageError. */
export function redisUrl(
  given: string | undefined,
  { namespace }: Namespace,
  { env }: Pick<World, "env">,
): string | undefined {
  const url = given ?? (env["HIVEPACE_REDIS"] || undefined);
  if (url === undefined) return undefined;
  const from = given === undefined ? "HIVEPACE_REDIS" : "--redis";
  if (!/^rediss?:\/\/[^/]+/.test(url)) refuse(from, "redis://host:port or rediss://host:port", shownAddress(url));
  if (namespace === "")
    throw new UsageError("--namespace must not be empty with --redis: what is counted there always has one");
  return url;
}

/** Rejects with SYNC_UNAVAILABLE, in a sentence of what to do where the adapter is not installed. */
export async function openRedis({ url, timeoutMs, signal }: RedisPlace): Promise<OpenRedis> {
  const { Redis, Cluster } = await loadRedis<Library>("ioredis");
  // One attempt: somebody is waiting for the answer.
  const settings = { connectTimeout: timeoutMs, commandTimeout: timeoutMs, maxRetriesPerRequest: 0 };
  const once = { ...settings, lazyConnect: true, enableReadyCheck: false, retryStrategy: () => null };
  const first = new Redis(url, once);
  try {
    await reach(first, signal, timeoutMs);
    if (!(await isClusterNode(first))) return opened(first, () => [first], false, timeoutMs);
    first.disconnect();
    const redisOptions = { ...settings, enableReadyCheck: false };
    const cluster = new Cluster([url], { lazyConnect: true, clusterRetryStrategy: () => null, redisOptions });
    await reach(cluster, signal, timeoutMs);
    return opened(cluster, () => cluster.nodes("master"), true, timeoutMs);
  } catch (error) {
    first.disconnect();
    if (signal.aborted) throw error;
    throw new SyncUnavailableError("redis", error instanceof Error ? error.message : String(error), { cause: error });
  }
}

/** Rejects with SYNC_UNAVAILABLE when it is not installed. */
export async function loadRedis<T>(name: (typeof REDIS_PACKAGES)[number]): Promise<T> {
  try {
    return (await loadAdapter(name)) as T;
  } catch (cause) {
    if (!isMissing(cause, name)) throw cause;
    const line = `its adapter is not installed: npm install ${REDIS_PACKAGES.join(" ")}`;
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

/** What ioredis says when it gives up names the last thing that it did; what went wrong was told before. */
async function reach(client: Client, signal: AbortSignal, timeoutMs: number): Promise<void> {
  let cause: unknown;
  client.on("error", (error) => {
    cause ??= error;
  });
  // A Cluster that is not up keeps a client waiting without end.
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

/** Whoever may not ask is taken for one server. */
async function isClusterNode(client: Client): Promise<boolean> {
  const info = await client.call("INFO", "cluster").catch(() => "");
  return /cluster_enabled:1/.test(String(info));
}
