import type { MessageBus } from "@hivepace/bus";
import type { Allocator, SyncStore } from "@hivepace/core";
import { checkKnown, type OptionNames } from "@hivepace/core/internal";
import { connectBus, connectStore, importAdapter } from "@hivepace/open-bus/connect";

/** Options of `openBus` and `openStore`. */
export interface OpenOptions {
  /**
   * Whether to resolve while the broker is away, and to connect in the background. With false, opening rejects instead.
   *
   * @defaultValue true
   */
  readonly waitForBroker?: boolean | undefined;
  /**
   * Milliseconds that the first attempt to connect may take.
   *
   * @defaultValue 5000
   */
  readonly connectTimeoutMs?: number | undefined;
}

const OPTIONS = { waitForBroker: true, connectTimeoutMs: true } as const satisfies OptionNames<OpenOptions>;

/**
 * Opens the bus at an address: `nats://host:port`, `redis://host:port`, `kafka://host:port,host:port`, or `memory:name`
 * for the threads of one process. The adapter package is loaded on demand. Close the bus when it is no longer used.
 *
 * @throws INVALID_CONFIG if the address is invalid. BUS_UNAVAILABLE if the adapter or its client is not installed (the
 * message names the packages), or if the broker refuses the credentials.
 *
 * @example
 * ```ts
 * import { createHive, openBus } from "hivepace";
 *
 * const bus = await openBus("nats://localhost:4222");
 * const chat = await createHive({ bus, endpoints: [{ id: "chat", rpmLimit: 100 }] });
 * const search = await createHive({ bus, endpoints: [{ id: "search", rpmLimit: 500 }] });
 * ```
 */
export async function openBus(address: string, options: OpenOptions = {}): Promise<MessageBus> {
  checkKnown(options, OPTIONS);
  return connectBus(address, importAdapter, { waitForBroker: true, ...options });
}

/**
 * Opens the store at an address, `redis://host:port` or `rediss://host:port` for TLS, for several hives or for
 * `startGlobalView`. The adapter package is loaded on demand. Close the store when it is no longer used.
 *
 * @throws INVALID_CONFIG if the address is invalid. SYNC_UNAVAILABLE if the adapter or its client is not installed (the
 * message names the packages), or if Redis refuses the credentials.
 */
export async function openStore(address: string, options: OpenOptions = {}): Promise<SyncStore & Allocator> {
  checkKnown(options, OPTIONS);
  return connectStore(address, importAdapter, { waitForBroker: true, ...options });
}
