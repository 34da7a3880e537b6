import type { MessageBus } from "@hivepace/bus";
import { InvalidConfigError, type SyncStore } from "@hivepace/core";
import { warn } from "@hivepace/core/internal";
import { hiveSettings } from "./config.ts";
import type { Hive, HiveOptions } from "./hive-types.ts";
import { takeOwnId } from "./own-id.ts";
import { SwarmHive } from "./swarm-hive.ts";

/**
 * Creates a hive: endpoints with their limits, keys, leases and routing in one object, shared with all other agents on
 * the bus. Resolves when the subscriptions on the bus are active, or at once when the bus is away.
 *
 * @throws INVALID_CONFIG, BUS_CLOSED, or BUS_UNAVAILABLE when the broker refuses the subscription
 */
export async function createHive(options: HiveOptions): Promise<Hive> {
  if (typeof options !== "object" || options === null) throw new InvalidConfigError("options", "an object", options);
  const owned: AsyncDisposable[] = [];
  const dispose = async (): Promise<void> => {
    // Closes in reverse order, and continues after a failure.
    for (const one of owned.splice(0).reverse()) await one[Symbol.asyncDispose]().then(undefined, tell);
  };
  try {
    const [bus, store] = await both(own(options.bus, owned), own(options.sync, owned));
    const hive = new SwarmHive(hiveSettings(options, idOf(options, owned), bus, store), options, store, dispose);
    if (options.onCapacityChange) hive.onCapacityChange(options.onCapacityChange);
    try {
      await hive.open();
    } catch (error) {
      await hive.close();
      throw error;
    }
    return hive;
  } catch (error) {
    await dispose();
    throw error;
  }
}

/** The configured id, or one that is released once everything else is closed. */
function idOf({ agentId }: HiveOptions, owned: AsyncDisposable[]): string {
  if (agentId !== undefined) return agentId;
  const own = takeOwnId();
  owned.unshift({ [Symbol.asyncDispose]: async () => own.release() });
  return own.id;
}

/** Resolves a bus or store. The hive owns, and later closes, one that it receives as a promise. */
async function own<T extends MessageBus | SyncStore>(
  given: T | PromiseLike<T> | undefined,
  owned: AsyncDisposable[],
): Promise<T | undefined> {
  if (!isPromise(given)) return given;
  const it = await given;
  if (typeof it?.[Symbol.asyncDispose] === "function") owned.push(it);
  return it;
}

/** Awaits both promises. If one rejects, the other's result is closed, and no rejection stays unhandled. */
async function both<A, B>(first: Promise<A>, second: Promise<B>): Promise<[A, B]> {
  await Promise.allSettled([first, second]);
  return [await first, await second];
}

function isPromise<T>(given: T | PromiseLike<T> | undefined): given is PromiseLike<T> {
  return typeof (given as PromiseLike<T> | null | undefined)?.then === "function";
}

function tell(error: unknown): void {
  warn(
    "HIVEPACE_CLOSE_FAILED",
    `a bus or store that was handed over to the hive could not be closed: ${String(error)}`,
    error,
  );
}
