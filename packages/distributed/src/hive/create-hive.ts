import type { MessageBus } from "@hivepace/bus";
import { InvalidConfigError, type SyncStore } from "@hivepace/core";
import { hiveSettings } from "./config.ts";
import type { Hive, HiveOptions } from "./hive-types.ts";
import { SwarmHive } from "./swarm-hive.ts";

/**
 * Endpoints with their limits, keys, leases and routing in one object, in step with all other agents on the bus. Resolves
 * when the bus has subscribed it, or at once when the bus is away. Rejects with INVALID_CONFIG, BUS_CLOSED, or
 * BUS_UNAVAILABLE when the broker refuses.
 */
export async function createHive(options: HiveOptions): Promise<Hive> {
  if (typeof options !== "object" || options === null) throw new InvalidConfigError("options", "an object", options);
  const owned: AsyncDisposable[] = [];
  const dispose = async (): Promise<void> => {
    for (const one of owned.reverse()) await one[Symbol.asyncDispose]();
  };
  try {
    const bus = await own(options.bus, owned);
    const store = await own(options.sync, owned);
    const hive = new SwarmHive(hiveSettings(options, bus, store !== undefined), options, store, dispose);
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

/** Whoever hands over a promise has nothing to close: it is closed with the hive. */
async function own<T extends MessageBus | SyncStore>(
  given: T | PromiseLike<T> | undefined,
  owned: AsyncDisposable[],
): Promise<T | undefined> {
  if (given === undefined || !("then" in given)) return given;
  const it = await given;
  owned.push(it);
  return it;
}
