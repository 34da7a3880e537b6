import type { Clock } from "@hivepace/core";
import {
  type Ioredis,
  isCluster,
  isRefusal,
  isReply,
  loadIoredis,
  type RedisClient,
  type RedisClusterClient,
} from "./client.ts";
import { clientOptions, type RedisClusterOptions, type RedisSyncOptions } from "./options.ts";

/** Where the client comes from, and who ends it. */
export interface Connection {
  /** A client to send on, opened if need be. Rejects when there is none within `timeoutMs`. */
  client(timeoutMs: number): Promise<RedisClient | RedisClusterClient>;
  /** It did not answer in time. */
  silent(): void;
  /** Keeps the process alive while someone waits, and only then. */
  hold(isHeld: boolean): void;
  close(): Promise<void>;
}

/** A client that someone lent: used as it is, never ended. */
export function lentConnection(client: RedisClient | RedisClusterClient, clock: Clock): Connection {
  return {
    async client(timeoutMs) {
      // Its own queue would keep what we send while it is away, and send all of it later.
      if (client.status === "ready") return client;
      if (timeoutMs === 0) throw new Error(`the client that it was lent is not ready: ${client.status}`);
      await whenReady(client, timeoutMs, clock);
      return client;
    },
    silent() {},
    hold() {},
    async close() {},
  };
}

/**
 * A client of our own, never connected twice: when it ends, the next sync opens another. So there is no timer between
 * syncs, nothing to queue or to send again, and each new client looks anew for the master or for the nodes.
 */
export async function ownConnection(options: RedisSyncOptions, timeoutMs: number, clock: Clock): Promise<Connection> {
  const { url, cluster, redisOptions } = clientOptions(options);
  const ioredis = await loadIoredis();
  const settings = { ...redisOptions, ...ours(timeoutMs) };
  const make = (): RedisClient | RedisClusterClient => {
    if (cluster) return makeCluster(ioredis, cluster, redisOptions, timeoutMs);
    return url === undefined ? new ioredis.Redis(settings) : new ioredis.Redis(url, settings);
  };
  let current: RedisClient | RedisClusterClient | undefined;
  let opening: Promise<RedisClient | RedisClusterClient> | undefined;
  let held = 0;
  const leave = (): void => {
    current?.disconnect();
    current = undefined;
  };
  const open = async (): Promise<RedisClient | RedisClusterClient> => {
    const client = make();
    current = client;
    // Without a listener ioredis writes to the console.
    client.on("error", () => {});
    try {
      await whenReady(client, timeoutMs, clock);
      reference(client, held > 0);
      return client;
    } catch (error) {
      client.disconnect();
      throw error;
    }
  };
  return {
    async client() {
      if (current?.status === "ready") return current;
      if (!opening) {
        leave();
        opening = open().finally(() => {
          opening = undefined;
        });
      }
      return opening;
    },
    silent: leave,
    hold(isHeld) {
      held += isHeld ? 1 : -1;
      if (current && held === (isHeld ? 1 : 0)) reference(current, isHeld);
    },
    async close() {
      const last = current;
      current = undefined;
      if (last) await ended(last, clock);
    },
  };
}

const ours = (timeoutMs: number) => ({
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

/** How often a Cluster client asks which nodes there are, so that it also learns of those that left. */
const SLOTS_REFRESH_MS = 10_000;

function makeCluster(
  { Cluster }: Ioredis,
  { nodes, ...options }: RedisClusterOptions,
  redisOptions: object,
  timeoutMs: number,
): RedisClusterClient {
  return new Cluster(nodes, {
    slotsRefreshInterval: SLOTS_REFRESH_MS,
    ...options,
    lazyConnect: true,
    enableOfflineQueue: false,
    clusterRetryStrategy: null,
    redisOptions: {
      ...redisOptions,
      ...(options["redisOptions"] as object),
      connectTimeout: timeoutMs,
      disconnectTimeout: 500,
    },
  });
}

/** The socket of a client of one server; that of a Cluster's nodes are its own business. */
function reference(client: object, isHeld: boolean): void {
  const { stream } = client as { stream?: { ref?(): void; unref?(): void } };
  if (isHeld) stream?.ref?.();
  else stream?.unref?.();
}

/** Resolves when the client is ready and Redis has answered it. Leaves no listener behind. */
async function whenReady(client: RedisClient | RedisClusterClient, timeoutMs: number, clock: Clock): Promise<void> {
  if (client.status === "end") throw new Error("the client that it was lent is closed");
  let latest: unknown;
  let leave = (): void => {};
  try {
    await new Promise<void>((resolve, reject) => {
      const late = (): void => reject(latest ?? new Error(`no answer within ${timeoutMs} ms`));
      const cancel = clock.after(timeoutMs, late);
      const onReady = (): void => {
        // A user that may not ask has been answered, too.
        client.ping().then(
          () => resolve(),
          (error: unknown) => (isReply(error) && !isRefusal(error) ? resolve() : reject(error)),
        );
      };
      const onError = (error: unknown): void => {
        latest = error;
        if (isRefusal(error)) reject(error);
      };
      const onEnd = (): void => reject(latest ?? new Error("the connection was closed"));
      const events = {
        ready: onReady,
        error: onError,
        end: onEnd,
        ...(isCluster(client) && { "node error": onError }),
      };
      for (const [event, listener] of Object.entries(events)) client.on(event, listener);
      leave = () => {
        cancel();
        for (const [event, listener] of Object.entries(events)) client.off(event, listener);
      };
      if (client.status === "ready") onReady();
      else if (client.status === "wait") client.connect().catch(() => {});
    });
  } finally {
    leave();
  }
}

/** How long a client that was told to disconnect may take; ioredis itself ends a socket after half a second. */
const END_MS = 1_000;

function ended(client: RedisClient | RedisClusterClient, clock: Clock): Promise<void> {
  const all = isCluster(client) ? client.nodes() : [client];
  const one = (it: (typeof all)[number]): Promise<void> =>
    new Promise((resolve) => {
      if (it.status === "end") {
        resolve();
        return;
      }
      const cancel = clock.after(END_MS, resolve);
      it.on("end", () => {
        cancel();
        resolve();
      });
    });
  client.disconnect();
  return Promise.all(all.map(one)).then(() => {});
}
