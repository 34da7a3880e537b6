import type { Clock } from "@hivepace/core";
import { answers, isCluster, isRefusal, keepAlive, type Opener } from "@hivepace/redis-client";
import type { AnyRedisClient } from "@hivepace/redis-client/types";

/** Provides the client and controls its lifetime. */
export interface Connection {
  /** Resolves with a ready client, after opening one if necessary. Rejects when none is ready within `timeoutMs`. */
  client(timeoutMs: number): Promise<AnyRedisClient>;
  /** Reports that the client did not answer in time. */
  silent(): void;
  /** Keeps the process alive while at least one call is held. */
  hold(isHeld: boolean): void;
  /** Ends an owned client; leaves a lent one open. */
  close(): Promise<void>;
}

/** Uses a lent client, which is never ended. */
export function lentConnection(client: AnyRedisClient, clock: Clock): Connection {
  return {
    async client(timeoutMs) {
      // A client that is not ready would queue the commands and send all of them later.
      if (client.status === "ready") return client;
      if (timeoutMs === 0) throw new Error(`the lent client is not ready: ${client.status}`);
      await whenReady(client, timeoutMs, clock);
      return client;
    },
    silent() {},
    hold() {},
    async close() {},
  };
}

/**
 * Maintains an owned client, which never reconnects: when it ends, the next sync opens another. Hence there is no timer
 * between syncs and no queue, and each new client looks up the current master or nodes.
 */
export function ownConnection(opener: Opener, timeoutMs: number, clock: Clock): Connection {
  let current: AnyRedisClient | undefined;
  let opening: Promise<AnyRedisClient> | undefined;
  let held = 0;
  const leave = (): void => {
    current?.disconnect();
    current = undefined;
  };
  const open = async (): Promise<AnyRedisClient> => {
    const client = opener.open();
    current = client;
    // Without a listener ioredis writes errors to the console.
    client.on("error", () => {});
    try {
      await whenReady(client, timeoutMs, clock);
      keepAlive(client, held > 0);
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
      if (current && held === (isHeld ? 1 : 0)) keepAlive(current, isHeld);
    },
    async close() {
      const last = current;
      current = undefined;
      if (last) await ended(last, clock);
    },
  };
}

/** Resolves when the client is ready and Redis has answered a PING. Removes its listeners. */
async function whenReady(client: AnyRedisClient, timeoutMs: number, clock: Clock): Promise<void> {
  if (client.status === "end") throw new Error("the lent client is closed");
  let latest: unknown;
  let leave = (): void => {};
  try {
    await new Promise<void>((resolve, reject) => {
      const late = (): void => reject(latest ?? new Error(`no answer within ${timeoutMs} ms`));
      const cancel = clock.after(timeoutMs, late);
      const onReady = (): void => {
        answers(client).then(resolve, reject);
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

/** Milliseconds that disconnecting may take; ioredis itself ends a socket after half a second. */
const END_MS = 1_000;

function ended(client: AnyRedisClient, clock: Clock): Promise<void> {
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
