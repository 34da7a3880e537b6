import { type BusDriver, type BusEvents, BusUnavailableError, DriverBus, type MessageBus } from "@hivepace/bus";
import { InvalidConfigError } from "@hivepace/core";
import { warn } from "@hivepace/core/internal";
import { isClient, isRefusal, type RedisClient, type RedisClusterClient } from "./client.ts";
import { type Connections, lentConnections, ownConnections } from "./connections.ts";
import { checkSettings, type RedisPubSubBusOptions, type RedisPubSubOptions, type Settings } from "./options.ts";
import { RedisPubSubDriver } from "./redis-pubsub-driver.ts";

/**
 * A bus on Redis pub/sub: on a client of ioredis that it is lent, or on connections that it opens itself.
 * Rejects with BUS_UNAVAILABLE when Redis is not there within `connectTimeoutMs` (see `waitForBroker`), and at once when
 * Redis refuses the credentials.
 */
export function redisPubSubBus(options?: RedisPubSubOptions): Promise<MessageBus>;
export function redisPubSubBus(
  client: RedisClient | RedisClusterClient,
  options?: RedisPubSubBusOptions,
): Promise<MessageBus>;
export async function redisPubSubBus(
  source: RedisClient | RedisClusterClient | RedisPubSubOptions = {},
  given: RedisPubSubBusOptions = {},
): Promise<MessageBus> {
  if (typeof source !== "object" || source === null)
    throw new InvalidConfigError("source", "a client of ioredis, or options", source);
  const lent = isClient(source);
  const settings = checkSettings(lent ? given : source);
  const { connectTimeoutMs } = settings;
  return open(
    lent ? lentConnections(source, connectTimeoutMs) : await ownConnections(source, connectTimeoutMs),
    settings,
  );
}

async function open(connections: Connections, settings: Settings): Promise<MessageBus> {
  const { waitForBroker, connectTimeoutMs, pingIntervalMs, clock, ...timeouts } = settings;
  let latest: unknown = new Error("no answer");
  let isOpen = false;
  let settle = (): void => {};
  const trouble = (error: unknown): void => {
    latest = error;
    if (isOpen && isRefusal(error))
      warn("HIVEPACE_BUS_REFUSED", `the redis-pubsub bus is closed: ${tell(error)}`, error);
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
  const detail = bus.state === "closed" ? tell(latest) : `not reached within ${connectTimeoutMs} ms: ${tell(latest)}`;
  await bus.close();
  throw new BusUnavailableError(bus.name, detail, { cause: latest });
}

function tell(error: unknown): string {
  // The error of a host name with several addresses has a code and no message.
  const { message, code } = error as { message?: string; code?: string };
  const text = message || code || String(error);
  return isRefusal(error) ? `Redis refused the credentials: ${text}` : text;
}
