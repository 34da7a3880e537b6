import { setMaxListeners } from "node:events";
import { InvalidConfigError } from "@hivepace/core";
import { SLOTS_REFRESH_MS, withoutUndefined } from "../ioredis-opener.ts";
import type { Opener } from "../libraries.ts";
import type { RedisPlace, ServerPlace } from "../options.ts";
import { OwnNodeCluster } from "./cluster.ts";
import type { NodeRedisClient, NodeRedisLibrary } from "./library.ts";
import { OwnNodeClient, onceOnly } from "./own-client.ts";
import { findMaster } from "./sentinel-lookup.ts";

const FIRST_RETRY_MS = 50;
const LONGEST_RETRY_MS = 2_000;

export function nodeRedisOpener(library: NodeRedisLibrary, place: RedisPlace, timeoutMs: number): Opener {
  const { keyPrefix } = place.others;
  if (keyPrefix !== undefined)
    throw new InvalidConfigError("keyPrefix", "left out with node-redis, which has no such option", keyPrefix);
  const common = optionsOf(place);
  const at = (server: ServerPlace, signal: AbortSignal): NodeRedisClient =>
    library.createClient({
      ...common,
      disableOfflineQueue: true,
      socket: { ...common.socket, ...server, ...onceOnly(timeoutMs, signal) },
    });
  const { sentinel } = place;
  const dial = async (signal: AbortSignal): Promise<NodeRedisClient> => {
    if (!sentinel) return at(place.server as ServerPlace, signal);
    return at(await findMaster(library, sentinel, timeoutMs, signal), signal);
  };
  const server = () => new OwnNodeClient(dial);
  const cluster = (retryMs?: (failures: number) => number): OwnNodeCluster => {
    const { nodes, others } = place.cluster ?? { nodes: [], others: {} };
    const { slotsRefreshInterval = SLOTS_REFRESH_MS, defaults, ...rest } = others;
    const { database: _, socket, ...login } = common;
    const given = (defaults ?? {}) as { readonly socket?: object };
    const make = (signal: AbortSignal) => {
      // One signal ends the sockets of all nodes, and so has many listeners.
      setMaxListeners(0, signal);
      return library.createCluster({
        ...rest,
        rootNodes: nodes.map((node) => ({ socket: node })),
        // An unreachable node must not delay commands to the others.
        minimizeConnections: true,
        defaults: {
          ...login,
          ...given,
          disableOfflineQueue: true,
          socket: { ...socket, ...given.socket, connectTimeout: timeoutMs, reconnectStrategy: reconnectMs, signal },
        },
      });
    };
    return new OwnNodeCluster(make, { refreshMs: Number(slotsRefreshInterval), retryMs });
  };
  const isCluster = place.cluster !== undefined;
  return { isCluster, server, cluster, open: () => (isCluster ? cluster() : server()) };
}

function reconnectMs(retries: number): number {
  return Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** retries) * (0.5 + Math.random() / 2);
}

/**
 * Converts the options to those of node-redis. `family` belongs to the socket there, and to the top level in ioredis.
 */
function optionsOf({ login, tls, others }: RedisPlace) {
  const { socket, family, ...rest } = others as { readonly socket?: object; readonly family?: unknown };
  const { username, password, db } = login;
  return {
    ...rest,
    ...withoutUndefined({ username, password, database: db }),
    socket: {
      ...socket,
      ...(family !== undefined && { family: Number(family) }),
      ...(tls && { ...tls, tls: true }),
    },
  } as { readonly socket: object; readonly database?: number };
}
