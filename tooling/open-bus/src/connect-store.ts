import { type Allocator, InvalidConfigError, type SyncStore, SyncUnavailableError } from "@hivepace/core";
import { shownAddress } from "./bus-address.ts";
import type { ConnectOptions } from "./connect-bus.ts";
import { isMissing, type LoadAdapter } from "./import-adapter.ts";

const ADAPTER = "@hivepace/sync-redis";
const CLIENT = "ioredis";

/**
 * Opens the store at an address.
 *
 * @throws InvalidConfigError when `address` is not an address.
 * @throws SyncUnavailableError when Redis cannot be reached, or when the adapter or its client is not installed; the
 * message then contains the install command.
 */
export async function connectStore(
  address: string,
  load: LoadAdapter,
  { waitForBroker, connectTimeoutMs }: ConnectOptions = {},
): Promise<SyncStore & Allocator> {
  if (!/^rediss?:\/\/[^/]/.test(address))
    throw new InvalidConfigError("sync", "redis://host:port or rediss://host:port", shownAddress(address));
  const { redisSync } = await storeAdapter(load);
  return redisSync({ url: address, waitForBroker, connectTimeoutMs });
}

async function storeAdapter(load: LoadAdapter): Promise<typeof import("@hivepace/sync-redis")> {
  try {
    return (await load(ADAPTER)) as typeof import("@hivepace/sync-redis");
  } catch (cause) {
    if (!isMissing(cause, ADAPTER)) throw cause;
    throw new SyncUnavailableError("redis", `the adapter is not installed: npm install ${ADAPTER} ${CLIENT}`, {
      cause,
    });
  }
}
