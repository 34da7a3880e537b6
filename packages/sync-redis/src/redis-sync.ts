import { InvalidConfigError, type ShareStore, type SyncStore, SyncUnavailableError } from "@hivepace/core";
import { isClient, isRefusal, type RedisClient, type RedisClusterClient, tell } from "./client.ts";
import { lentConnection, ownConnection } from "./connection.ts";
import { checkSettings, type RedisSyncOptions, type RedisSyncStoreOptions } from "./options.ts";
import { RedisSyncStore } from "./redis-sync-store.ts";

/**
 * A sync store on Redis: on a client of ioredis that it is lent, or on a connection that it opens itself.
 * Rejects with SYNC_UNAVAILABLE when Redis is not there within `connectTimeoutMs` (see `waitForBroker`), and at once when
 * Redis refuses the credentials.
 */
export function redisSync(options?: RedisSyncOptions): Promise<SyncStore & ShareStore>;
export function redisSync(
  client: RedisClient | RedisClusterClient,
  options?: RedisSyncStoreOptions,
): Promise<SyncStore & ShareStore>;
export async function redisSync(
  source: RedisClient | RedisClusterClient | RedisSyncOptions = {},
  given: RedisSyncStoreOptions = {},
): Promise<SyncStore & ShareStore> {
  if (typeof source !== "object" || source === null)
    throw new InvalidConfigError("source", "a client of ioredis, or options", source);
  const lent = isClient(source);
  const settings = checkSettings(lent ? given : source);
  const { waitForBroker, connectTimeoutMs, clock } = settings;
  const connection = lent ? lentConnection(source, clock) : await ownConnection(source, connectTimeoutMs, clock);
  try {
    await connection.client(connectTimeoutMs);
  } catch (error) {
    if (!waitForBroker || isRefusal(error)) {
      await connection.close();
      throw new SyncUnavailableError("redis", tell(error), { cause: error });
    }
  }
  return new RedisSyncStore(connection, settings, !lent);
}
