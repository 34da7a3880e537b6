import { type Allocator, isHivepaceError, type SyncStore, SyncUnavailableError } from "@hivepace/core";
import { checkKnown, checkSpelling, messageOf } from "@hivepace/core/internal";
import { describeError, isRefusal, lentClient, type Opener, openerOf } from "@hivepace/redis-client";
import type { LentRedisClient } from "@hivepace/redis-client/types";
import { lentConnection, ownConnection } from "./connection.ts";
import { checkSettings, OPTIONS, placeOf, type RedisSyncOptions, type RedisSyncStoreOptions } from "./options.ts";
import { RedisSyncStore } from "./redis-sync-store.ts";

/**
 * Opens a sync store on Redis, either on a lent client of ioredis or node-redis, or on a connection of its own.
 *
 * @throws InvalidConfigError when an option is invalid.
 * @throws SyncUnavailableError when Redis cannot be reached within `connectTimeoutMs` (see `waitForBroker`), and at
 * once when Redis refuses the credentials.
 *
 * @example
 * ```ts
 * import { redisSync } from "@hivepace/sync-redis";
 *
 * await using store = await redisSync({ url: "redis://localhost:6379" });
 * ```
 */
export function redisSync(options?: RedisSyncOptions): Promise<SyncStore & Allocator>;
export function redisSync(client: LentRedisClient, options?: RedisSyncStoreOptions): Promise<SyncStore & Allocator>;
export async function redisSync(
  source: LentRedisClient | RedisSyncOptions = {},
  given: RedisSyncStoreOptions = {},
): Promise<SyncStore & Allocator> {
  const lent = lentClient(source);
  if (lent) checkKnown(given, OPTIONS);
  else checkSpelling(source, OPTIONS);
  const settings = checkSettings(lent ? given : (source as RedisSyncOptions));
  const { waitForBroker, connectTimeoutMs, clock } = settings;
  const connection = lent
    ? lentConnection(lent, clock)
    : ownConnection(await opener(source as RedisSyncOptions, connectTimeoutMs), connectTimeoutMs, clock);
  try {
    await connection.client(connectTimeoutMs);
  } catch (error) {
    if (!waitForBroker || isRefusal(error)) {
      await connection.close();
      throw new SyncUnavailableError("redis", describeError(error), { cause: error });
    }
  }
  return new RedisSyncStore(connection, settings, !lent);
}

async function opener(options: RedisSyncOptions, timeoutMs: number): Promise<Opener> {
  const place = placeOf(options);
  try {
    return await openerOf(place, timeoutMs);
  } catch (error) {
    if (isHivepaceError(error)) throw error;
    throw new SyncUnavailableError("redis", messageOf(error), { cause: error });
  }
}
