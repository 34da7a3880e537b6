import type { AbortSignalLike } from "./abort-signal.ts";

/** Coordinates the use of resources that may only be used so often. */
export interface RateLimiter extends AsyncDisposable {
  /**
   * Waits until `cost` tokens are there and takes them; counts one request as in flight. First come, first served.
   * Rejects with RESOURCE_UNKNOWN, CAPACITY_EXHAUSTED or LIMITER_CLOSED, or with `signal.reason`; then nothing is spent.
   */
  acquire(resource: string, options?: AcquireOptions): Promise<void>;
  /** The same without waiting: false when it would have to. Never overtakes those who wait. */
  tryAcquire(resource: string, cost?: number): boolean;
  /** Ends one request in flight and returns its tokens: for requests that were never sent. */
  release(resource: string, cost?: number): void;
  /** Ends one request in flight; its tokens stay spent. */
  finish(resource: string): void;
  /** Acquires, works, finishes, also when the work fails. */
  run<T>(resource: string, work: () => Promise<T>, options?: AcquireOptions): Promise<T>;
  /**
   * Sets or changes a limit: `capacity` tokens in each `windowMs`. What was spent stays spent. A capacity below 1 is one
   * token in a longer time: 0.5 a minute is one in two minutes.
   */
  setCapacity(resource: string, capacity: number, windowMs: number, options?: CapacityOptions): void;
  /** Forgets a resource; whoever waits for it is rejected with RESOURCE_UNKNOWN. False when it was not known. */
  removeResource(resource: string): boolean;
  /** Says that the provider allows less than we thought (it answered 429). */
  announceReduced(resource: string, reason: string, details?: ReducedDetails): void;
  getCapacity(resource: string): Capacity | undefined;
  /** Calls the listener at every change of a capacity. Returns its unsubscribe. */
  onCapacityChange(listener: (update: CapacityUpdate) => void): () => void;
  /** Rejects all who wait with LIMITER_CLOSED and stops every timer. May be called again. */
  close(): Promise<void>;
}

/** How much to take, and how long to wait for it. */
export interface AcquireOptions {
  /** How many tokens to take. Default: 1. */
  cost?: number | undefined;
  /** Gives up the wait; the promise rejects with the signal's reason. */
  signal?: AbortSignalLike | undefined;
  /** Gives up the wait after this long, with CAPACITY_EXHAUSTED. Default: never. */
  timeoutMs?: number | undefined;
  /** Each point is worth one second of waiting: priority 5 stands before everyone who came less than 5 s earlier. Default: 0. */
  priority?: number | undefined;
}

/** What a limit is besides so many in a window. */
export interface CapacityOptions {
  /** What may pass at once, and is there at the start. Default: the capacity, and 1 when that is less. */
  burst?: number | undefined;
}

/** What is known of a refusal. */
export interface ReducedDetails {
  /** How long ago the refused request was sent. */
  sentAgoMs?: number | undefined;
  /** What the provider asked for in `Retry-After`. */
  retryAfterMs?: number | undefined;
  /** "limit": we send too much, cut back (default). "overload": the provider is in trouble, pause and do not cut. */
  kind?: "limit" | "overload" | undefined;
}

/** How full a resource is. */
export interface Capacity {
  readonly resource: string;
  /** Whole tokens that are there now. */
  readonly available: number;
  /** Tokens in each window. */
  readonly total: number;
  readonly windowMs: number;
  /** Requests that were granted and have not been finished or released. */
  readonly inFlight: number;
}

/** A change of what a resource allows. */
export interface CapacityUpdate {
  readonly resource: string;
  /** Who caused the change. */
  readonly agentId: string;
  readonly newCapacity: number;
  readonly reason: string;
  readonly timestamp: Date;
}
