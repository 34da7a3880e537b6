import {
  type AcquireOptions,
  type CapacityUpdate,
  type Clock,
  ClosedError,
  InvalidConfigError,
  type ReducedDetails,
  ResourceUnknownError,
} from "@hivepace/core";
import {
  ACQUIRE_OPTIONS,
  AMOUNT,
  announced,
  CAPACITY_OPTIONS,
  checkAcquireOptions,
  checkCost,
  checkKnown,
  checkRefusal,
  denied,
  granted,
  isAmount,
  Listeners,
  type OptionNames,
  REDUCED_DETAILS,
  waitFor,
} from "@hivepace/core/internal";
import { at, type QuotaConfig } from "../engine/index.ts";
import { CapacityWatch } from "./capacity-watch.ts";
import { closeAtExit } from "./close-at-exit.ts";
import type { Settings } from "./config.ts";
import type {
  DistributedCapacity,
  DistributedLimiter,
  DistributedStatus,
  SharedCapacityOptions,
} from "./distributed-limiter.ts";
import { Member } from "./member.ts";
import { quotaConfig } from "./quota-config.ts";
import { SharedResource } from "./shared-resource.ts";
import { checkSlots, resourceOf, slotConfig } from "./slot-config.ts";
import { statusOf } from "./status.ts";
import type { SwarmResource } from "./swarm-resource.ts";
import { totalOf } from "./total.ts";
import { UnsharedResource } from "./unshared-resource.ts";

const GRANTED = Promise.resolve();
/** Default time after which a call that holds a slot ends by itself. */
const LEASE_MS = 900_000;

const SHARED_CAPACITY_OPTIONS = {
  ...CAPACITY_OPTIONS,
  maxInFlight: true,
  leaseMs: true,
  limits: true,
} as const satisfies OptionNames<SharedCapacityOptions>;

/** The implementation of `DistributedLimiter`: checks arguments, manages resources and publishes events. */
export class SwarmLimiter implements DistributedLimiter {
  readonly #settings: Settings;
  readonly #clock: Clock;
  readonly #member: Member;
  readonly #watch: CapacityWatch;
  readonly #resources = new Map<string, SwarmResource>();
  readonly #listeners = new Listeners<CapacityUpdate>();
  #waiting = 0;
  #closing: Promise<void> | undefined;
  #revokeExit = (): void => {};

  constructor(settings: Settings) {
    this.#settings = settings;
    this.#clock = settings.clock;
    this.#member = new Member(settings, {
      serve: (quota) => (this.#resources.get(quota) ?? this.#resources.get(resourceOf(quota)))?.room?.serve(),
      afterStep: (now) => this.#watch.look(now),
      source: "distributed-limiter",
    });
    this.#watch = new CapacityWatch(this.#member.agent, this.#member.origin, (change) => this.#notify(change));
  }

  get agentId(): string {
    return this.#settings.agentId;
  }

  /** Resolves when the subscriptions on the bus are active. */
  open(): Promise<void> {
    this.#revokeExit = closeAtExit(() => this.close(), this.#clock);
    return this.#member.open();
  }

  tryAcquire(resource: string, cost = 1): boolean {
    checkCost(cost);
    const entry = this.#resources.get(resource);
    const now = this.#clock.now();
    if (entry !== undefined && entry.room === undefined && entry.take(cost, now)) {
      entry.inFlight++;
      if (granted.hasSubscribers) this.#reportGranted(resource, cost);
      return true;
    }
    entry?.denied(cost, now);
    if (denied.hasSubscribers) this.#reportDenied(resource, cost, entry, now);
    return false;
  }

  acquire(resource: string, options?: AcquireOptions): Promise<void> {
    try {
      const cost = options?.cost ?? 1;
      if (options !== undefined) {
        checkKnown(options, ACQUIRE_OPTIONS);
        checkAcquireOptions(options);
      }
      const signal = options?.signal;
      if (signal?.aborted) return Promise.reject(signal.reason);
      const entry = this.#resources.get(resource);
      if (entry === undefined) throw this.#closing ? new ClosedError() : new ResourceUnknownError(resource);
      const now = this.#clock.now();
      if (entry.room === undefined && entry.take(cost, now)) {
        entry.inFlight++;
        if (granted.hasSubscribers) this.#reportGranted(resource, cost);
        return GRANTED;
      }
      return waitFor(resource, entry, this.#clock, this.#settings.maxQueue, cost, now, options);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  release(resource: string, cost = 1): void {
    checkCost(cost);
    const entry = this.#resources.get(resource);
    if (entry && endOne(entry, this.#clock.now())) entry.giveBack(cost, this.#clock.now());
  }

  finish(resource: string): void {
    const entry = this.#resources.get(resource);
    if (entry) endOne(entry, this.#clock.now());
  }

  async run<T>(resource: string, work: () => Promise<T>, options?: AcquireOptions): Promise<T> {
    await this.acquire(resource, options);
    // Kept in a variable, because the resource may be removed and set again meanwhile.
    const entry = this.#resources.get(resource);
    try {
      return await work();
    } finally {
      if (entry) endOne(entry, this.#clock.now());
    }
  }

  setCapacity(resource: string, capacity: number, windowMs: number, options?: SharedCapacityOptions): void {
    if (options) checkKnown(options, SHARED_CAPACITY_OPTIONS);
    const burst = options?.burst;
    const shorter = options?.limits;
    if (shorter !== undefined && this.#settings.sharing === "none")
      throw new InvalidConfigError(
        "limits",
        'absent with sharing "none", where each agent has the limit for itself',
        shorter,
      );
    const config = quotaConfig(this.#settings, resource, capacity, windowMs, burst, shorter);
    const slots = this.#slotConfig(resource, options);
    if (this.#closing) throw new ClosedError();
    const now = this.#clock.now();
    const known = this.#resources.get(resource);
    const quota = this.#member.setQuota(config, now);
    const entry = known ?? this.#newResource(quota, burst, now);
    entry.quota = quota;
    this.#setSlots(entry, slots, now);
    entry.burstOption = burst;
    this.#resources.set(resource, entry);
    this.#watch.add(entry, now);
    entry.changed(now);
    this.#member.wake();
    this.#notify({ resource, agentId: this.agentId, newCapacity: capacity, reason: "configured" });
  }

  removeResource(resource: string): boolean {
    const entry = this.#resources.get(resource);
    if (!entry) return false;
    this.#resources.delete(resource);
    entry.room?.clear("removed", () => new ResourceUnknownError(resource));
    entry.close();
    this.#watch.remove(entry);
    this.#member.removeQuota(resource);
    if (entry.slots) this.#member.removeQuota(entry.slots.config.name);
    return true;
  }

  announceReduced(resource: string, reason: string, details: ReducedDetails = {}): void {
    checkKnown(details, REDUCED_DETAILS, "", "details");
    checkRefusal(reason, details);
    const { sentAgoMs = 0, retryAfterMs, kind } = details;
    if (announced.hasSubscribers) announced.publish({ ...this.#member.origin, resource, reason, ...details });
    const entry = this.#resources.get(resource);
    if (!entry) return;
    const isOverload = kind === "overload";
    this.#member.refused(entry.quota, { sentAgoMs, retryAfterMs, isOverload, reason });
    // An overload shows that too many calls are under way.
    if (isOverload && entry.slots?.config.adaptive)
      this.#member.refused(entry.slots, { sentAgoMs, isOverload, reason });
  }

  getCapacity(resource: string): DistributedCapacity | undefined {
    const entry = this.#resources.get(resource);
    if (!entry) return undefined;
    const now = this.#clock.now();
    const { quota, inFlight } = entry;
    return {
      resource,
      available: entry.available(now),
      total: totalOf(quota, now),
      windowMs: quota.config.windowMs,
      inFlight,
      share: entry.share(now),
      configured: at(quota.config.limits, 0),
    };
  }

  onCapacityChange(listener: (update: CapacityUpdate) => void): () => void {
    return this.#listeners.add(listener);
  }

  status(): DistributedStatus {
    return statusOf(this.#member, this.#resources.values(), this.#clock.now());
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    const entries = [...this.#resources.values()];
    // Set before waiters are rejected, so that requests from their handlers are rejected as well.
    this.#closing = Promise.resolve();
    this.#revokeExit();
    this.#resources.clear();
    for (const entry of entries) {
      entry.room?.clear("closed", () => new ClosedError());
      entry.close();
    }
    this.#listeners.clear();
    await this.#member.close();
  }

  #slotConfig(resource: string, options: SharedCapacityOptions | undefined): QuotaConfig | undefined {
    const { maxInFlight, leaseMs = LEASE_MS } = options ?? {};
    if (maxInFlight === undefined) return undefined;
    checkSlots("maxInFlight", maxInFlight);
    if (!isAmount(leaseMs)) throw new InvalidConfigError("leaseMs", AMOUNT, leaseMs);
    return maxInFlight === Infinity ? undefined : slotConfig(this.#settings, resource, maxInFlight, leaseMs);
  }

  #setSlots(entry: SwarmResource, config: QuotaConfig | undefined, now: number): void {
    if (entry.slots && !config) this.#member.removeQuota(entry.slots.config.name);
    entry.slots = config && this.#member.setQuota(config, now);
  }

  #newResource(quota: SwarmResource["quota"], burst: number | undefined, now: number): SwarmResource {
    if (this.#settings.sharing === "none") return new UnsharedResource(quota, now, burst, this.agentId);
    const onWaiting = (isWaiting: boolean): void => {
      this.#waiting += isWaiting ? 1 : -1;
      this.#member.isAwaited = this.#waiting > 0;
    };
    return new SharedResource(quota, this.#member.runner, this.#clock, onWaiting, burst);
  }

  #notify(change: Omit<CapacityUpdate, "timestamp">): void {
    if (this.#listeners.size === 0) return;
    this.#listeners.emit({ ...change, timestamp: new Date(this.#clock.epochMs()) });
  }

  #reportGranted(resource: string, cost: number): void {
    // A literal costs a fraction of a spread, and every call has this event.
    const { source, agentId } = this.#member.origin;
    granted.publish({ source, agentId, resource, cost });
  }

  #reportDenied(resource: string, cost: number, entry: SwarmResource | undefined, now: number): void {
    const reason = entry
      ? cost > entry.burst
        ? "too-large"
        : entry.room
          ? "others-wait"
          : "no-tokens"
      : this.#closing
        ? "closed"
        : "unknown";
    const limitedBy = entry?.limitedBy(now);
    denied.publish({ ...this.#member.origin, resource, cost, reason, limitedBy });
  }
}

function endOne(entry: SwarmResource, now: number): boolean {
  if (entry.inFlight === 0) return false;
  entry.inFlight--;
  entry.ended(now);
  return true;
}
