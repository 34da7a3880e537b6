import { checkAcquireOptions, checkCost, checkMaxQueue, checkRefusal } from "./acquire-checks.ts";
import { AMOUNT, isAmount } from "./amount.ts";
import { type Clock, systemClock } from "./clock.ts";
import type { DeniedReason } from "./diagnostic-events.ts";
import { announced, denied, granted } from "./diagnostics.ts";
import { ClosedError, InvalidConfigError, ResourceUnknownError } from "./errors.ts";
import { ACQUIRE_OPTIONS, CAPACITY_OPTIONS, checkKnown, type OptionNames, REDUCED_DETAILS } from "./known-options.ts";
import { Listeners } from "./listeners.ts";
import type {
  AcquireOptions,
  Capacity,
  CapacityOptions,
  CapacityUpdate,
  RateLimiter,
  ReducedDetails,
} from "./rate-limiter.ts";
import { ORIGIN, Resource } from "./resource.ts";
import { Sweep } from "./sweep.ts";
import type { BucketLimit } from "./token-bucket.ts";
import { waitFor } from "./wait-for.ts";

/** Options of a `MemoryLimiter`; all have defaults. */
export interface MemoryLimiterOptions {
  /**
   * Source of time; tests inject a `ManualClock`.
   *
   * @defaultValue `systemClock`
   */
  clock?: Clock | undefined;
  /**
   * Maximum number of calls that wait for one resource; further calls are refused with CAPACITY_EXHAUSTED.
   *
   * @defaultValue Infinity
   */
  maxQueue?: number | undefined;
  /**
   * Returns the limit of a resource for which `setCapacity` was not called, or undefined if the resource does not
   * exist. A resource created this way is forgotten while it is full and unused, so that millions of names may come and
   * go; the function must return the same limit for the same name.
   */
  capacityFor?: ((resource: string) => BucketLimit | undefined) | undefined;
  /**
   * Interval in milliseconds at which idle resources are looked for and forgotten.
   *
   * @defaultValue 30,000
   */
  sweepIntervalMs?: number | undefined;
}

/** The result of `status()` of a `MemoryLimiter`. */
export interface MemoryLimiterStatus {
  readonly mode: "alone" | "closed";
  readonly resources: readonly MemoryResourceStatus[];
}

/** The state of one resource of a `MemoryLimiter`. */
export interface MemoryResourceStatus {
  readonly resource: string;
  readonly total: number;
  readonly available: number;
  readonly inFlight: number;
  readonly waiting: number;
}

const OPTIONS = {
  clock: true,
  maxQueue: true,
  capacityFor: true,
  sweepIntervalMs: true,
} as const satisfies OptionNames<MemoryLimiterOptions>;

const DEFAULTS = { maxQueue: Infinity, sweepIntervalMs: 30_000 };

/** Every uncontended `acquire` returns this promise: without a value, one promise serves all calls. */
const GRANTED = Promise.resolve();

/**
 * Limits the requests of one process, with a token bucket for each resource.
 *
 * @example
 * ```ts
 * import { MemoryLimiter } from "@hivepace/core";
 *
 * const limiter = new MemoryLimiter();
 * limiter.setCapacity("openai", 60, 60_000); // 60 requests per minute
 * await limiter.run("openai", async () => {
 *   // Send the request.
 * });
 * await limiter.close();
 * ```
 */
export class MemoryLimiter implements RateLimiter {
  readonly #clock: Clock;
  readonly #maxQueue: number;
  readonly #capacityFor: MemoryLimiterOptions["capacityFor"];
  /** Empty after `close`, so that the request path does not check a flag. */
  readonly #resources = new Map<string, Resource>();
  /** Cache of the last look-up: consecutive calls mostly name the same resource. */
  #lastName: string | undefined;
  #last: Resource | undefined;
  readonly #listeners = new Listeners<CapacityUpdate>();
  readonly #sweep: Sweep<string, Resource>;
  #closed = false;

  constructor(options: MemoryLimiterOptions = {}) {
    checkKnown(options, OPTIONS);
    const {
      clock = systemClock,
      maxQueue = DEFAULTS.maxQueue,
      sweepIntervalMs = DEFAULTS.sweepIntervalMs,
      capacityFor,
    } = options;
    checkMaxQueue(maxQueue);
    if (!isAmount(sweepIntervalMs)) throw new InvalidConfigError("sweepIntervalMs", AMOUNT, sweepIntervalMs);
    if (capacityFor !== undefined && typeof capacityFor !== "function")
      throw new InvalidConfigError("capacityFor", "a function", capacityFor);
    this.#clock = clock;
    this.#maxQueue = maxQueue;
    this.#capacityFor = capacityFor;
    this.#sweep = new Sweep(clock, sweepIntervalMs, this.#resources, (it, now) => this.#mayGo(it, now));
  }

  tryAcquire(resource: string, cost = 1): boolean {
    checkCost(cost);
    const entry = resource === this.#lastName ? this.#last : this.#find(resource);
    if (entry !== undefined && entry.room === undefined && entry.take(cost, this.#clock.now())) {
      entry.inFlight++;
      if (granted.hasSubscribers) granted.publish({ source: ORIGIN.source, resource, cost });
      return true;
    }
    if (denied.hasSubscribers) this.#reportDenied(resource, cost, entry);
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
      const entry = resource === this.#lastName ? this.#last : this.#find(resource);
      if (entry === undefined) throw this.#closed ? new ClosedError() : new ResourceUnknownError(resource);
      const now = this.#clock.now();
      if (entry.room === undefined && entry.take(cost, now)) {
        entry.inFlight++;
        if (granted.hasSubscribers) granted.publish({ source: ORIGIN.source, resource, cost });
        return GRANTED;
      }
      return waitFor(resource, entry, this.#clock, this.#maxQueue, cost, now, options);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  release(resource: string, cost = 1): void {
    checkCost(cost);
    const entry = this.#resources.get(resource);
    if (!entry?.endOne()) return;
    entry.give(cost, this.#clock.now());
    entry.room?.serve();
  }

  finish(resource: string): void {
    this.#resources.get(resource)?.endOne();
  }

  async run<T>(resource: string, work: () => Promise<T>, options?: AcquireOptions): Promise<T> {
    await this.acquire(resource, options);
    // Keeps the entry, because the resource may be removed and set again while the work runs.
    const entry = this.#resources.get(resource);
    try {
      return await work();
    } finally {
      entry?.endOne();
    }
  }

  setCapacity(resource: string, capacity: number, windowMs: number, options?: CapacityOptions): void {
    if (typeof resource !== "string") throw new InvalidConfigError("resource", "a string", resource);
    if (this.#closed) throw new ClosedError();
    if (options) checkKnown(options, CAPACITY_OPTIONS);
    const limit = { capacity, windowMs, burst: options?.burst };
    const now = this.#clock.now();
    const known = this.#resources.get(resource);
    if (known) {
      known.resize(limit, now);
      known.onDemand = false;
      known.room?.refit();
    } else {
      this.#resources.set(resource, new Resource(limit, now, false));
    }
    if (this.#listeners.size === 0) return;
    const timestamp = new Date(this.#clock.epochMs());
    this.#listeners.emit({ resource, agentId: "local", newCapacity: capacity, reason: "configured", timestamp });
  }

  removeResource(resource: string): boolean {
    const entry = this.#resources.get(resource);
    this.#resources.delete(resource);
    this.#forgetLast();
    entry?.room?.clear("removed", () => new ResourceUnknownError(resource));
    return entry !== undefined;
  }

  /** Changes no limit, because this limiter has no peers; publishes the announcement to diagnostics only. */
  announceReduced(resource: string, reason: string, details: ReducedDetails = {}): void {
    checkKnown(details, REDUCED_DETAILS, "", "details");
    checkRefusal(reason, details);
    if (announced.hasSubscribers) announced.publish({ ...ORIGIN, resource, reason, ...details });
  }

  getCapacity(resource: string): Capacity | undefined {
    const entry = this.#resources.get(resource);
    if (!entry) return undefined;
    const available = Math.max(0, entry.wholeTokens(this.#clock.now()));
    return { resource, available, total: entry.capacity, windowMs: entry.windowMs, inFlight: entry.inFlight };
  }

  /**
   * Returns the state of all resources that were set with `setCapacity`, for display and metrics. Resources created by
   * `capacityFor` are left out.
   */
  status(): MemoryLimiterStatus {
    const now = this.#clock.now();
    const resources: MemoryResourceStatus[] = [];
    for (const [resource, entry] of this.#resources) {
      if (entry.onDemand) continue;
      const available = Math.max(0, entry.wholeTokens(now));
      const { capacity: total, inFlight, room } = entry;
      resources.push({ resource, total, available, inFlight, waiting: room?.size ?? 0 });
    }
    return { mode: this.#closed ? "closed" : "alone", resources };
  }

  onCapacityChange(listener: (update: CapacityUpdate) => void): () => void {
    return this.#listeners.add(listener);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#sweep.stop();
    this.#listeners.clear();
    const entries = [...this.#resources.values()];
    this.#resources.clear();
    this.#forgetLast();
    for (const entry of entries) entry.room?.clear("closed", () => new ClosedError());
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #find(resource: string): Resource | undefined {
    const entry = this.#resources.get(resource) ?? this.#make(resource);
    if (entry === undefined) return undefined;
    this.#lastName = resource;
    this.#last = entry;
    return entry;
  }

  #forgetLast(): void {
    this.#lastName = undefined;
    this.#last = undefined;
  }

  #mayGo(entry: Resource, now: number): boolean {
    if (!entry.onDemand || !entry.isIdle(now)) return false;
    if (entry === this.#last) this.#forgetLast();
    return true;
  }

  #make(resource: string): Resource | undefined {
    const limit = this.#closed ? undefined : this.#capacityFor?.(resource);
    if (limit === undefined) return undefined;
    const entry = new Resource(limit, this.#clock.now(), true);
    this.#resources.set(resource, entry);
    this.#sweep.start();
    return entry;
  }

  #reportDenied(resource: string, cost: number, entry: Resource | undefined): void {
    const reason: DeniedReason = entry
      ? cost > entry.burst
        ? "too-large"
        : entry.room
          ? "others-wait"
          : "no-tokens"
      : this.#closed
        ? "closed"
        : "unknown";
    denied.publish({ ...ORIGIN, resource, cost, reason, limitedBy: entry?.limitedBy() });
  }
}
