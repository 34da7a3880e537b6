import type { DriverBusOptions } from "@hivepace/bus";
import { type Clock, InvalidConfigError, systemClock } from "@hivepace/core";
import { AMOUNT, isAmount, type OptionNames } from "@hivepace/core/internal";
import { type RedisPlace, redisPlace } from "@hivepace/redis-client";
import type { RedisPlaceOptions } from "@hivepace/redis-client/types";

/** Options that apply both to a lent client and to connections that the bus opens. */
export interface RedisPubSubBusOptions extends DriverBusOptions {
  /**
   * Whether to wait for an unreachable Redis: the bus is then `connecting`. Otherwise `redisPubSubBus` rejects.
   *
   * @defaultValue false
   */
  waitForBroker?: boolean | undefined;
  /**
   * Milliseconds until opening gives up; also the limit of a single attempt and of a single answer.
   *
   * @defaultValue 5000
   */
  connectTimeoutMs?: number | undefined;
  /**
   * Milliseconds between pings on both connections.
   *
   * @defaultValue 10000
   */
  pingIntervalMs?: number | undefined;
}

/**
 * Options for connections that the bus opens. Redis is located by `url`; `host` and `port`; `path`; `sentinels` and
 * `name`; or `cluster`, by default on this machine. Properties not listed here are passed to the client library
 * unchanged.
 */
export interface RedisPubSubOptions extends RedisPubSubBusOptions, RedisPlaceOptions {
  [clientOption: string]: unknown;
}

export const OPTIONS = {
  waitForBroker: true,
  connectTimeoutMs: true,
  pingIntervalMs: true,
  publishTimeoutMs: true,
  closeTimeoutMs: true,
  clock: true,
} as const satisfies OptionNames<RedisPubSubBusOptions>;

const DEFAULTS = { waitForBroker: false, connectTimeoutMs: 5_000, pingIntervalMs: 10_000, clock: systemClock };

export interface Settings {
  readonly waitForBroker: boolean;
  readonly connectTimeoutMs: number;
  readonly pingIntervalMs: number;
  readonly clock: Clock;
  readonly publishTimeoutMs: number | undefined;
  readonly closeTimeoutMs: number | undefined;
}

export function checkSettings(options: RedisPubSubBusOptions): Settings {
  const { waitForBroker = DEFAULTS.waitForBroker, connectTimeoutMs = DEFAULTS.connectTimeoutMs } = options;
  const { pingIntervalMs = DEFAULTS.pingIntervalMs, clock = DEFAULTS.clock } = options;
  const { publishTimeoutMs, closeTimeoutMs } = options;
  if (typeof waitForBroker !== "boolean") throw new InvalidConfigError("waitForBroker", "true or false", waitForBroker);
  for (const [option, value] of Object.entries({ connectTimeoutMs, pingIntervalMs }))
    if (!isAmount(value)) throw new InvalidConfigError(option, AMOUNT, value);
  return { waitForBroker, connectTimeoutMs, pingIntervalMs, clock, publishTimeoutMs, closeTimeoutMs };
}

/** Returns the location of Redis. Errors never contain a password. */
export function placeOf(options: RedisPubSubOptions): RedisPlace {
  const { waitForBroker, connectTimeoutMs, pingIntervalMs, clock, publishTimeoutMs, closeTimeoutMs, ...place } =
    options;
  return redisPlace(place);
}
