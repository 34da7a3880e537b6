import { type BusDriver, type BusEvents, BusUnavailableError, DriverBus, type MessageBus } from "@hivepace/bus";
import { isHivepaceError } from "@hivepace/core";
import { checkKnown, checkSpelling, messageOf, warn } from "@hivepace/core/internal";
import { describeError, isRefusal, lentClient, type Opener, openerOf } from "@hivepace/redis-client";
import type { LentRedisClient } from "@hivepace/redis-client/types";
import { type Connections, lentConnections, ownConnections } from "./connections.ts";
import {
  checkSettings,
  OPTIONS,
  placeOf,
  type RedisPubSubBusOptions,
  type RedisPubSubOptions,
  type Settings,
} from "./options.ts";
import { RedisPubSubDriver } from "./redis-pubsub-driver.ts";

/**
 * Opens a bus on Redis pub/sub, either on a lent client of ioredis or node-redis, or on connections of its own.
 *
 * @throws InvalidConfigError when an option is invalid.
 * @throws BusUnavailableError when Redis cannot be reached within `connectTimeoutMs` (see `waitForBroker`), and at once
 * when Redis refuses the credentials.
 *
 * @example
 * ```ts
 * import { redisPubSubBus } from "@hivepace/bus-redis-pubsub";
 *
 * await using bus = await redisPubSubBus({ url: "redis://localhost:6379" });
 * await bus.subscribe("greetings", (payload) => console.log(payload));
 * ```
 */
export function redisPubSubBus(options?: RedisPubSubOptions): Promise<MessageBus>;
export function redisPubSubBus(client: LentRedisClient, options?: RedisPubSubBusOptions): Promise<MessageBus>;
export async function redisPubSubBus(
  source: LentRedisClient | RedisPubSubOptions = {},
  given: RedisPubSubBusOptions = {},
): Promise<MessageBus> {
  const lent = lentClient(source);
  if (lent) checkKnown(given, OPTIONS);
  else checkSpelling(source, OPTIONS);
  const settings = checkSettings(lent ? given : (source as RedisPubSubOptions));
  const { connectTimeoutMs } = settings;
  return open(
    lent
      ? lentConnections(lent, connectTimeoutMs)
      : ownConnections(await opener(source as RedisPubSubOptions, connectTimeoutMs), connectTimeoutMs),
    settings,
  );
}

async function opener(options: RedisPubSubOptions, timeoutMs: number): Promise<Opener> {
  const place = placeOf(options);
  try {
    return await openerOf(place, timeoutMs);
  } catch (error) {
    if (isHivepaceError(error)) throw error;
    throw new BusUnavailableError("redis-pubsub", messageOf(error), { cause: error });
  }
}

async function open(connections: Connections, settings: Settings): Promise<MessageBus> {
  const { waitForBroker, connectTimeoutMs, pingIntervalMs, clock, ...timeouts } = settings;
  let latest: unknown = new Error("no answer");
  let isOpen = false;
  let settle = (): void => {};
  const trouble = (error: unknown): void => {
    latest = error;
    if (isOpen && isRefusal(error))
      warn("HIVEPACE_BUS_REFUSED", `the redis-pubsub bus is closed: ${describeError(error)}`, error);
    if (waitForBroker) settle();
  };
  const driver = (events: BusEvents): BusDriver =>
    new RedisPubSubDriver(connections, events, { timeoutMs: connectTimeoutMs, pingIntervalMs, clock, trouble });
  const bus = new DriverBus(driver, "connecting", { clock, ...timeouts });
  await new Promise<void>((resolve) => {
    const cancel = clock.after(connectTimeoutMs, resolve);
    settle = () => {
      cancel();
      resolve();
    };
    bus.onState(() => settle());
  });
  if (bus.state !== "closed" && (waitForBroker || bus.state !== "connecting")) {
    isOpen = true;
    return bus;
  }
  const detail =
    bus.state === "closed"
      ? describeError(latest)
      : `not reached within ${connectTimeoutMs} ms: ${describeError(latest)}`;
  await bus.close();
  throw new BusUnavailableError(bus.name, detail, { cause: latest });
}
