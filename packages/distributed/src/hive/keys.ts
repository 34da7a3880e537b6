import type { Clock } from "@hivepace/core";
import type { Settings } from "../limiter/config.ts";
import type { Member } from "../limiter/member.ts";
import type { HiveKeyLimits, HiveOptions } from "./hive-types.ts";
import { keyName, keyPlans } from "./limits.ts";
import { claimAgain, newScope, type Scope } from "./scope.ts";
import { countUnderWay, slotPlans, slotsOfKey } from "./slots.ts";
import { OF_KEY, Share, SLOTS_OF_KEY } from "./target.ts";

/** Number of windows after which a tenant key without calls, waiters and usage is dropped. */
const IDLE_WINDOWS = 2;
/** Number of idle keys examined per newly active key, so that keys are dropped as fast as they are added. */
const SWEPT_KEYS = 4;

/** A tenant key that has limits and is in use. */
export interface ActiveKey extends Scope {
  readonly id: string;
  limits: HiveKeyLimits;
}

/**
 * The limits of tenant keys, as quotas of the engine like those of endpoints. Only keys in use have quotas: a key becomes
 * active with its first request, starts with the usage that peers have reported, and is dropped once it is idle.
 */
export class Keys {
  readonly #settings: Settings;
  readonly #windowMs: number;
  readonly #leaseMs: number;
  readonly #member: Member;
  readonly #clock: Clock;
  readonly #limitsForKey: HiveOptions["limitsForKey"];
  #configured: ReadonlyMap<string, HiveKeyLimits> = new Map();
  /** Active keys, least recently used first. */
  readonly #active = new Map<string, ActiveKey>();
  readonly #byQuota = new Map<string, ActiveKey>();

  constructor(
    settings: Settings,
    windowMs: number,
    leaseMs: number,
    member: Member,
    limitsForKey: HiveOptions["limitsForKey"],
  ) {
    this.#settings = settings;
    this.#windowMs = windowMs;
    this.#leaseMs = leaseMs;
    this.#member = member;
    this.#clock = settings.clock;
    this.#limitsForKey = limitsForKey;
  }

  get size(): number {
    return this.#active.size;
  }

  /** The limits of a key, as configured or as `limitsForKey` gives them. */
  limitsOf(key: string): HiveKeyLimits | undefined {
    return this.#active.get(key)?.limits ?? this.#configured.get(key) ?? this.#limitsForKey?.(key);
  }

  /**
   * Returns the active key of a request at `now`, and configures the quotas of a newly active one. Undefined without
   * limits.
   */
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

  /** Returns an active key without marking it as used. */
  peek(key: string | undefined): ActiveKey | undefined {
    return key === undefined ? undefined : this.#active.get(key);
  }

  /** Returns the active key with the quota of this name. */
  ofQuota(name: string): ActiveKey | undefined {
    return this.#byQuota.get(name);
  }

  /** Replaces the configured limits. Usage of active keys stays counted. */
  configure(limits: ReadonlyMap<string, HiveKeyLimits>, now: number): void {
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

  /**
   * Configures the quotas of a key's limits. Unchanged quotas keep their share, which calls in flight are charged to.
   */
  #share(active: ActiveKey, limits: HiveKeyLimits | undefined, now: number): void {
    const { id, shares: former } = active;
    active.limits = limits ?? {};
    const slots = slotPlans(keyName(id), slotsOfKey(active.limits), this.#settings, this.#leaseMs);
    const plans = [...keyPlans(id, active.limits, this.#settings, this.#windowMs), ...slots];
    active.shares = plans.map(({ config, dimensions }) => {
      const quota = this.#member.setQuota(config, now);
      this.#byQuota.set(config.name, active);
      const known = former.find((share) => share.name === config.name && share.counts(dimensions));
      if (known) known.quota = quota;
      const key = { id, model: undefined, models: undefined };
      const names = config.leaseMs === undefined ? OF_KEY : SLOTS_OF_KEY;
      return known ?? new Share(this.#member, key, quota, dimensions, this.#clock, () => {}, names);
    });
    countUnderWay(active, now);
    claimAgain(active, now);
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
    this.#byQuota.delete(share.name);
    this.#member.removeQuota(share.name);
  }
}
