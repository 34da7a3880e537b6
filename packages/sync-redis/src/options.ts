import { type Clock, InvalidConfigError, systemClock } from "@hivepace/core";
import { AMOUNT, isAmount } from "@hivepace/core/internal";

/** What a store may be told, whoever's connection it uses. */
export interface RedisSyncStoreOptions {
  /** Whether a Redis that cannot be reached is no reason to reject: it is looked for at every sync. Default: false. */
  waitForBroker?: boolean | undefined;
  /** How long to try before giving up, and how long one attempt may take. Default: 5 seconds. */
  connectTimeoutMs?: number | undefined;
  /** How long Redis may take to answer a sync. Default: 2 seconds. */
  syncTimeoutMs?: number | undefined;
  clock?: Clock | undefined;
}

/**
 * For a connection of the store's own. Where Redis is: `url`; `host` and `port`; `path`; `sentinels` and `name`; or
 * `cluster`. Without any of them on this machine. What is not named here goes to ioredis as it is.
 */
export interface RedisSyncOptions extends RedisSyncStoreOptions {
  /** `redis://user:password@host:port`, or `rediss://` for TLS. */
  url?: string | undefined;
  host?: string | undefined;
  port?: number | undefined;
  /** Of a Unix socket. */
  path?: string | undefined;
  username?: string | undefined;
  password?: string | undefined;
  /** As Node's `tls.connect` takes it; `{}` for its defaults. */
  tls?: object | undefined;
  sentinels?: readonly { readonly host?: string; readonly port?: number }[] | undefined;
  /** Of the master that the sentinels watch. */
  name?: string | undefined;
  sentinelUsername?: string | undefined;
  sentinelPassword?: string | undefined;
  cluster?: RedisClusterOptions | undefined;
  [ioredisOption: string]: unknown;
}

/** What is not named here goes to ioredis's Cluster as it is. */
export interface RedisClusterOptions {
  /** Any of its nodes; the others are found. */
  nodes: readonly (string | { readonly host?: string; readonly port?: number })[];
  [clusterOption: string]: unknown;
}

const DEFAULTS = { waitForBroker: false, connectTimeoutMs: 5_000, syncTimeoutMs: 2_000, clock: systemClock };

export interface Settings {
  readonly waitForBroker: boolean;
  readonly connectTimeoutMs: number;
  readonly syncTimeoutMs: number;
  readonly clock: Clock;
}

export function checkSettings(options: RedisSyncStoreOptions): Settings {
  const { waitForBroker = DEFAULTS.waitForBroker, connectTimeoutMs = DEFAULTS.connectTimeoutMs } = options;
  const { syncTimeoutMs = DEFAULTS.syncTimeoutMs, clock = DEFAULTS.clock } = options;
  if (typeof waitForBroker !== "boolean") throw new InvalidConfigError("waitForBroker", "true or false", waitForBroker);
  for (const [option, value] of Object.entries({ connectTimeoutMs, syncTimeoutMs }))
    if (!isAmount(value)) throw new InvalidConfigError(option, AMOUNT, value);
  return { waitForBroker, connectTimeoutMs, syncTimeoutMs, clock };
}

const PLACES = ["url", "host", "path", "sentinels", "cluster"] as const;

/** What ioredis gets: everything that is not ours. An error never shows a value that may hold a password. */
export function clientOptions(options: RedisSyncOptions) {
  const { waitForBroker, connectTimeoutMs, syncTimeoutMs, clock, ...rest } = options;
  const places = PLACES.filter((place) => rest[place] !== undefined);
  if (places.length > 1) throw new InvalidConfigError(places.join(" and "), "given one at a time", places);
  const { url, sentinels, name, cluster, ...redisOptions } = rest;
  if (url !== undefined && !(typeof url === "string" && /^rediss?:\/\//.test(url)))
    throw new InvalidConfigError("url", "redis://… or rediss://…", typeof url === "string" ? "something else" : url);
  if (sentinels !== undefined && !isFilled(sentinels))
    throw new InvalidConfigError("sentinels", "a list of one or more addresses", sentinels);
  if (sentinels !== undefined && !name) throw new InvalidConfigError("name", "that of the sentinels' master", name);
  if (cluster !== undefined && !isFilled(cluster?.nodes))
    throw new InvalidConfigError("cluster.nodes", "a list of one or more addresses", cluster?.nodes);
  return { url, cluster, redisOptions: sentinels ? { ...redisOptions, sentinels, name } : redisOptions };
}

const isFilled = (list: unknown): boolean => Array.isArray(list) && list.length > 0;
