import type { MessageBus } from "@hivepace/bus";
import { type CapacityUpdate, InvalidConfigError } from "@hivepace/core";
import * as distributed from "@hivepace/distributed";
import { openBus } from "./open.ts";
import { type BusSource, opened, type StoreSource } from "./opened.ts";

const BUS_RULE =
  "an address, a bus or a promise of one, and not a variable that is not set; leave the option out for one process";

/** Options of `createHive`: the endpoints, the bus and store that share their limits, and the behaviour. */
export interface HiveOptions extends Omit<distributed.HiveOptions, "bus" | "sync"> {
  /**
   * The bus over which agents coordinate; without one, this agent is alone. An address such as `nats://localhost:4222`,
   * `redis://localhost:6379` or `kafka://a:9092,b:9092`, or a promise of a bus, is opened and closed with the hive.
   * Leave the option out for one process: undefined, as of an unset environment variable, is rejected.
   */
  bus?: BusSource;
  /**
   * The store of the global view, which can also allocate limits, see `aggregation`. An address such as
   * `redis://localhost:6379`, or a promise of a store, is opened and closed with the hive.
   */
  sync?: StoreSource | undefined;
}

/** Options of `createDistributedLimiter`. */
export interface DistributedLimiterOptions extends Omit<distributed.DistributedConfig, "bus" | "sync"> {
  /** The bus of the swarm. An address or a promise is closed with the limiter; an open bus is lent and stays open. */
  bus: BusSource;
  /** The store for `aggregation`, the same for all agents. An address or a promise is closed with the limiter. */
  sync?: StoreSource | undefined;
}

/** Options of `observeSwarm`. */
export interface ObserverOptions extends Omit<distributed.ObserverOptions, "bus"> {
  /** The bus of the observed agents. An address or a promise is closed with the observer. */
  bus: BusSource;
}

/** Options of `announceCapacity`. */
export interface AnnounceOptions extends Omit<distributed.AnnounceOptions, "bus"> {
  /** The bus of the agents. A bus opened from an address is closed after the announcement. */
  bus: string | MessageBus;
}

/**
 * Creates a hive: endpoints with their limits, keys, leases and routing in one object, coordinated with all other
 * agents on the bus. Resolves when the bus has subscribed the hive, or without the bus if the broker is away: the hive
 * then works alone and joins the others later.
 *
 * @throws INVALID_CONFIG for an invalid option. BUS_UNAVAILABLE or SYNC_UNAVAILABLE if the adapter of an address is not
 * installed, or if the broker refuses the credentials. BUS_CLOSED for a closed bus.
 *
 * @example
 * ```ts
 * import { createHive } from "hivepace";
 *
 * const hive = await createHive({ bus: "redis://localhost:6379", endpoints: [{ id: "openai", rpmLimit: 1_000 }] });
 * ```
 */
export async function createHive(options: HiveOptions): Promise<distributed.Hive> {
  // An unset environment variable would give each process the whole limit, without a word.
  if (options !== null && typeof options === "object" && "bus" in options && options.bus === undefined)
    throw new InvalidConfigError("bus", BUS_RULE, undefined);
  return opened(options, ({ bus, sync }) => distributed.createHive({ ...options, bus, sync }));
}

/**
 * Creates a limiter for one agent of a swarm. Resolves when the bus has subscribed the limiter, or without the bus if
 * the broker is away: the limiter joins the others later.
 *
 * @throws the errors of `createHive`.
 */
export function createDistributedLimiter(options: DistributedLimiterOptions): Promise<distributed.DistributedLimiter> {
  return opened(options, async ({ bus: openingBus, sync: openingStore, close }) => {
    await Promise.allSettled([openingBus, openingStore]);
    const [bus, sync] = [(await openingBus) as MessageBus, await openingStore];
    const limiter = await distributed.createDistributedLimiter({ ...options, bus, sync });
    // The inner limiter treats its bus and store as lent, so closing them is up to this wrapper.
    const closeLimiter = limiter.close.bind(limiter);
    let closing: Promise<void> | undefined;
    limiter.close = () => {
      closing ??= closeLimiter().finally(close);
      return closing;
    };
    return limiter;
  });
}

/**
 * Observes the agents on a bus without joining them. Resolves when the bus has subscribed the observer, or without the
 * bus if the broker is away.
 *
 * @throws the errors of `createHive`.
 */
export function observeSwarm(options: ObserverOptions): Promise<distributed.SwarmObserver> {
  return opened(options, ({ bus }) => distributed.observeSwarm({ ...options, bus: bus as MessageBus }));
}

/**
 * Tells all agents that a resource has less capacity, without joining them: for operators and their scripts. Agents
 * treat the announcement as a cut to `newCapacity`, unless that is not below the present capacity or follows the last
 * cut too closely. Resolves when the broker has the message.
 *
 * @throws INVALID_CONFIG for an invalid option. BUS_UNAVAILABLE if the broker is away or the adapter is not installed.
 */
export async function announceCapacity(update: CapacityUpdate, options: AnnounceOptions): Promise<void> {
  const { bus } = options;
  if (typeof bus !== "string") return distributed.announceCapacity(update, { ...options, bus });
  const own = await openBus(bus, { waitForBroker: false });
  try {
    await distributed.announceCapacity(update, { ...options, bus: own });
  } finally {
    await own.close();
  }
}
