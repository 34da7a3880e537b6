import type { Clock, KeyLimits, RateManagerOptions } from "@hivepace/core";
import type { Settings } from "../limiter/config.ts";
import type { Member } from "../limiter/member.ts";
import { keyPlans } from "./limits.ts";
import { newScope, type Scope } from "./scope.ts";
import { OF_KEY, Share } from "./target.ts";

/** A tenant key without calls, waiters and usage is dropped after this many windows. */
const IDLE_WINDOWS = 2;
/** Idle keys that one newly active key looks for, so that keys go as fast as they come. */
const SWEPT_KEYS = 4;

/** A tenant key that has limits and is in use. */
export interface ActiveKey extends Scope {
  readonly id: string;
  limits: KeyLimits;
}

/**
 * The limits of tenant keys, as quotas of the engine like those of endpoints. Only keys in use have quotas: a key becomes
 * active with its first request, starts with the usage that peers have reported, and is dropped once it is idle.
 */
export class Keys {
  readonly #settings: Settings;
  readonly #windowMs: number;
  readonly #member: Member;
  readonly #clock: Clock;
  readonly #limitsForKey: RateManagerOptions["limitsForKey"];
  #configured: ReadonlyMap<string, KeyLimits> = new Map();
  /** The least recently used first. */
  readonly #active = new Map<string, ActiveKey>();
  readonly #byPool = new Map<string, ActiveKey>();

  constructor(settings: Settings, windowMs: number, member: Member, limitsForKey: RateManagerOptions["limitsForKey"]) {
    this.#settings = settings;
    this.#windowMs = windowMs;
    this.#member = member;
    this.#clock = settings.clock;
    this.#limitsForKey = limitsForKey;
  }

  get size(): number {
    return this.#active.size;
  }

  /** The limits of a key, as configured or as `limitsForKey` gives them. */
  limitsOf(key: string): KeyLimits | undefined {
    return this.#active.get(key)?.limits ?? this.#configured.get(key) ?? this.#limitsForKey?.(key);
  }

  /** A key for a request at `now`: its quotas are configured when it is not active yet. Undefined without limits. */
  use(key: string | undefined, now: number): ActiveKey | undefined {
    if (key === undefined) return undefined;
    const active = this.#active.get(key) ?? this.#activate(key, now);
    if (!active) return undefined;
    if (active.usedAt !== now) {
      active.usedAt = now;
      this.#active.delete(key);
      this.#active.set(key, active);
    }
    return active;
  }

  /** An active key, without using it. */
  peek(key: string | undefined): ActiveKey | undefined {
    return key === undefined ? undefined : this.#active.get(key);
  }

  /** The key whose limits the engine knows by this name. */
  ofPool(name: string): ActiveKey | undefined {
    return this.#byPool.get(name);
  }

  /** Replaces the configured limits. Usage of active keys stays counted. */
  configure(limits: ReadonlyMap<string, KeyLimits>, now: number): void {
    this.#configured = limits;
    for (const active of [...this.#active.values()]) {
      const former = active.shares;
      this.#share(active, limits.get(active.id) ?? this.#limitsForKey?.(active.id), now);
      for (const share of former) {
        if (!active.shares.includes(share)) share.tried.forget();
        if (!active.shares.some(({ name }) => name === share.name)) this.#dropShare(share);
      }
      if (active.shares.length === 0) this.#active.delete(active.id);
    }
  }

  close(): void {
    for (const { shares } of this.#active.values()) for (const { tried } of shares) tried.forget();
  }

  #activate(id: string, now: number): ActiveKey | undefined {
    const limits = this.limitsOf(id);
    if (!limits) return undefined;
    const active: ActiveKey = { id, limits, ...newScope(now) };
    this.#share(active, limits, now);
    if (active.shares.length === 0) return undefined;
    this.#sweep(now);
    this.#active.set(id, active);
    return active;
  }

  /** Gives a key the quotas of its limits. Quotas that stay keep their share, which calls in flight are charged to. */
  #share(active: ActiveKey, limits: KeyLimits | undefined, now: number): void {
    const { id, shares: former } = active;
    active.limits = limits ?? {};
    active.shares = keyPlans(id, active.limits, this.#settings, this.#windowMs).map(({ config, dimensions }) => {
      const pool = this.#member.setPool(config, now);
      this.#byPool.set(config.name, active);
      const known = former.find((share) => share.name === config.name && share.counts(dimensions));
      if (known) known.pool = pool;
      const key = { id, model: undefined, models: undefined };
      return known ?? new Share(this.#member, key, pool, dimensions, this.#clock, () => {}, OF_KEY);
    });
  }

  /** Drops the least recently used keys that are idle. */
  #sweep(now: number): void {
    let looked = 0;
    for (const [key, active] of this.#active) {
      if (++looked > SWEPT_KEYS || now - active.usedAt < IDLE_WINDOWS * this.#windowMs) return;
      this.#active.delete(key);
      if (active.inFlight > 0 || active.bound.size > 0) this.#active.set(key, active);
      else for (const share of active.shares) this.#dropShare(share);
    }
  }

  #dropShare(share: Share): void {
    share.tried.forget();
    this.#byPool.delete(share.name);
    this.#member.removePool(share.name);
  }
}
