import type { MessageBus } from "@hivepace/bus";
import { InvalidConfigError, type SyncStore } from "@hivepace/core";
import { openBus, openStore } from "./open.ts";

/**
 * A bus: an address or a promise, which is closed with the object that uses it; or an open bus, which is lent and stays
 * open.
 */
export type BusSource = string | MessageBus | PromiseLike<MessageBus>;

/**
 * A store of the global view: an address or a promise, which is closed with its user; or an open store, which is lent.
 */
export type StoreSource = string | SyncStore | PromiseLike<SyncStore>;

interface Sources {
  readonly bus?: BusSource | undefined;
  readonly sync?: StoreSource | undefined;
}

/** Sources whose addresses have been replaced by opening buses and stores. */
interface Opened {
  readonly bus: MessageBus | PromiseLike<MessageBus> | undefined;
  readonly sync: SyncStore | PromiseLike<SyncStore> | undefined;
  /** Closes everything that is not lent. */
  close(): Promise<void>;
}

/**
 * Opens the addresses among the sources, and passes all sources to `use`. Closes everything that is not lent if `use`
 * fails.
 */
export async function opened<T>(sources: Sources, use: (opened: Opened) => Promise<T>): Promise<T> {
  if (typeof sources !== "object" || sources === null) throw new InvalidConfigError("options", "an object", sources);
  const owned: PromiseLike<MessageBus | SyncStore>[] = [];
  const own = <S extends MessageBus | SyncStore>(
    source: string | S | PromiseLike<S> | undefined,
    openAt: (address: string) => Promise<S>,
  ): S | PromiseLike<S> | undefined => {
    const given = typeof source === "string" ? openAt(source) : source;
    if (isPromise(given)) owned.push(given);
    return given;
  };
  const close = async (): Promise<void> => {
    const settled = await Promise.allSettled(owned);
    await Promise.allSettled(settled.map((one) => one.status === "fulfilled" && one.value?.close?.()));
  };
  const { bus, sync } = sources;
  try {
    return await use({ bus: own(bus, openBus), sync: own(sync, openStore), close });
  } catch (error) {
    await close();
    throw error;
  }
}

function isPromise<T>(given: T | PromiseLike<T> | undefined): given is PromiseLike<T> {
  return typeof (given as PromiseLike<T> | null | undefined)?.then === "function";
}
