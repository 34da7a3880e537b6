import type { Opener } from "./libraries.ts";
import type { RedisPlace } from "./options.ts";
import type { RedisClient, RedisClusterClient } from "./port.ts";

/** The part of ioredis that is used. */
export interface Ioredis {
  readonly Redis: new (...args: readonly unknown[]) => RedisClient;
  readonly Cluster: new (nodes: readonly unknown[], options: object) => RedisClusterClient;
}

/**
 * Settings of a connection that is never reopened: a new connection replaces it. Thus the client has no queue, resends
 * nothing and resubscribes to nothing, and each new connection looks up the current master or node.
 */
export const oneConnection = (timeoutMs: number) => ({
  lazyConnect: true,
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  retryStrategy: null,
  sentinelRetryStrategy: null,
  commandTimeout: undefined,
  connectTimeout: timeoutMs,
  sentinelCommandTimeout: timeoutMs,
  disconnectTimeout: 500,
});

/** The interval at which a Cluster client refreshes its list of nodes; no event tells it about nodes that left. */
export const SLOTS_REFRESH_MS = 10_000;

export function ioredisOpener({ Redis, Cluster }: Ioredis, place: RedisPlace, timeoutMs: number): Opener {
  const { tls, login, others } = place;
  const common = withoutUndefined({ ...others, ...login, tls });
  const server = (): RedisClient => new Redis({ ...common, ...where(place), ...oneConnection(timeoutMs) });
  const cluster = (retryMs?: (failures: number) => number): RedisClusterClient => {
    const { nodes, others: clusterOthers } = place.cluster ?? { nodes: [], others: {} };
    return new Cluster(nodes, {
      slotsRefreshInterval: SLOTS_REFRESH_MS,
      ...clusterOthers,
      lazyConnect: true,
      enableOfflineQueue: false,
      clusterRetryStrategy: retryMs ?? null,
      redisOptions: {
        ...common,
        ...(clusterOthers["redisOptions"] as object | undefined),
        connectTimeout: timeoutMs,
        disconnectTimeout: 500,
      },
    });
  };
  const isCluster = place.cluster !== undefined;
  return { isCluster, server, cluster, open: () => (isCluster ? cluster() : server()) };
}

function where({ server, sentinel }: RedisPlace): object {
  if (!sentinel) return server ?? {};
  const { sentinels, name, username, password } = sentinel;
  return withoutUndefined({ sentinels, name, sentinelUsername: username, sentinelPassword: password });
}

export const withoutUndefined = (options: object): Record<string, unknown> =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
