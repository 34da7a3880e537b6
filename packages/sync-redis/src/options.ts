import { type Clock, InvalidConfigError, systemClock } from "@hivepace/core";
import { AMOUNT, isAmount, type OptionNames } from "@hivepace/core/internal";
import { type RedisPlace, redisPlace } from "@hivepace/redis-client";
import type { RedisPlaceOptions } from "@hivepace/redis-client/types";

/** Options that apply both to a lent client and to a connection that the store opens. */
export interface RedisSyncStoreOptions {
  /**
   * Whether to resolve while Redis is unreachable. Every sync then tries to connect.
   *
   * @defaultValue false
   */
  waitForBroker?: boolean | undefined;
  /**
   * Milliseconds until opening gives up; also the limit of a single attempt.
   *
   * @defaultValue 5000
   */
  connectTimeoutMs?: number | undefined;
  /**
   * Milliseconds within which Redis must answer a sync.
   *
   * @defaultValue 2000
   */
  syncTimeoutMs?: number | undefined;
  /**
   * Source of time for the deadlines.
   *
   * @defaultValue the system clock
   */
  clock?: Clock | undefined;
}

/**
 * Options for a connection that the store opens. Redis is located by `url`; `host` and `port`; `path`; `sentinels` and
 * `name`; or `cluster`, by default on this machine. Properties not listed here are passed to the client library
 * unchanged.
 */
export interface RedisSyncOptions extends RedisSyncStoreOptions, RedisPlaceOptions {
  [clientOption: string]: unknown;
}

export const OPTIONS = {
  waitForBroker: true,
  connectTimeoutMs: true,
  syncTimeoutMs: true,
  clock: true,
} as const satisfies OptionNames<RedisSyncStoreOptions>;

const DEFAULTS = { waitForBroker: false, connectTimeoutMs: 5_000, syncTimeoutMs: 2_000, clock: systemClock };

export interface Settings {
  readonly waitForBroker: boolean;
  readonly connectTimeoutMs: number;
  readonly syncTimeoutMs: number;
  readonly clock: Clock;
}

export function checkSettings(options: RedisSyncStoreOptions): Settings {
  const { waitForBroker = DEFAULTS.waitForBroker, connectTimeoutMs = DEFAULTS.connectTimeoutMs } = options;
  const { syncTimeoutMs = DEFAULTS.syncTimeoutMs, clock = DEFAULTS.clock } = options;
  if (typeof waitForBroker !== "boolean") throw new InvalidConfigError("waitForBroker", "true or false", waitForBroker);
  for (const [option, value] of Object.entries({ connectTimeoutMs, syncTimeoutMs }))
    if (!isAmount(value)) throw new InvalidConfigError(option, AMOUNT, value);
  return { waitForBroker, connectTimeoutMs, syncTimeoutMs, clock };
}

/** Returns the location of Redis. Errors never contain a password. */
export function placeOf(options: RedisSyncOptions): RedisPlace {
  const { waitForBroker, connectTimeoutMs, syncTimeoutMs, clock, ...place } = options;
  return redisPlace(place);
}
