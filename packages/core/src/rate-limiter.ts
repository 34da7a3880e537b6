import type { AbortSignalLike } from "./abort-signal.ts";

/** Limits the use of named resources to a rate. */
export interface RateLimiter extends AsyncDisposable {
  /**
   * Waits until `cost` tokens are available, takes them, and counts one request as in flight. Calls are served in order
   * of arrival, shifted by their priority. A rejected call spends nothing.
   *
   * @throws RESOURCE_UNKNOWN, CAPACITY_EXHAUSTED, LIMITER_CLOSED, INVALID_CONFIG or the signal's reason, as a rejection
   */
  acquire(resource: string, options?: AcquireOptions): Promise<void>;
  /**
   * Takes `cost` tokens without waiting. Returns false when `acquire` would wait or reject; never overtakes waiting
   * calls.
   *
   * @throws INVALID_CONFIG for an invalid cost
   */
  tryAcquire(resource: string, cost?: number): boolean;
  /**
   * Ends one request in flight and returns its tokens: for requests that were never sent.
   *
   * @throws INVALID_CONFIG for an invalid cost
   */
  release(resource: string, cost?: number): void;
  /** Ends one request in flight; its tokens stay spent. */
  finish(resource: string): void;
  /**
   * Acquires, runs `work`, and finishes the request, also when `work` fails. Resolves with the result of `work`;
   * rejects as `acquire` or `work` does.
   */
  run<T>(resource: string, work: () => Promise<T>, options?: AcquireOptions): Promise<T>;
  /**
   * Sets or changes a limit to `capacity` tokens per `windowMs`. Spent tokens stay spent. A capacity below 1 means one
   * token in a longer time: 0.5 a minute is one in two minutes.
   *
   * @throws INVALID_CAPACITY, INVALID_WINDOW, INVALID_CONFIG or LIMITER_CLOSED; then nothing is changed
   */
  setCapacity(resource: string, capacity: number, windowMs: number, options?: CapacityOptions): void;
  /**
   * Forgets a resource and rejects its waiters with RESOURCE_UNKNOWN. Returns false when the resource was not known.
   */
  removeResource(resource: string): boolean;
  /**
   * Announces that the provider allows less than the limiter assumed, for instance because it answered with status 429.
   *
   * @throws INVALID_CONFIG for invalid details
   */
  announceReduced(resource: string, reason: string, details?: ReducedDetails): void;
  /** Returns the present state of a resource; undefined when it is not known. */
  getCapacity(resource: string): Capacity | undefined;
  /** Calls the listener at every change of a capacity. Returns a function that removes the listener. */
  onCapacityChange(listener: (update: CapacityUpdate) => void): () => void;
  /** Rejects all waiters with LIMITER_CLOSED and stops every timer. Further calls have no effect. */
  close(): Promise<void>;
}

/** Cost, time limit and priority of one call. */
export interface AcquireOptions {
  /**
   * Number of tokens to take.
   *
   * @defaultValue 1
   */
  cost?: number | undefined;
  /** Ends the wait when it is aborted; the promise rejects with the signal's reason. */
  signal?: AbortSignalLike | undefined;
  /**
   * Ends the wait after this many milliseconds, with CAPACITY_EXHAUSTED.
   *
   * @defaultValue no time limit
   */
  timeoutMs?: number | undefined;
  /**
   * Each point is worth one second of waiting: a call of priority 5 goes before calls of priority 0 that arrived less
   * than 5 s earlier.
   *
   * @defaultValue 0
   */
  priority?: number | undefined;
}

/** Options of a limit besides its capacity and window. */
export interface CapacityOptions {
  /**
   * The largest number of tokens available at once; a new resource starts with this many.
   *
   * @defaultValue the capacity, but at least 1
   */
  burst?: number | undefined;
}

/** Details of a provider's refusal. */
export interface ReducedDetails {
  /** Time since the refused request was sent, in milliseconds. */
  sentAgoMs?: number | undefined;
  /** The delay in milliseconds that the provider asked for in `Retry-After`. */
  retryAfterMs?: number | undefined;
  /**
   * - `limit`: the swarm sends too much and cuts back.
   * - `overload`: the provider is in trouble; the swarm pauses and keeps its level.
   * - `quota`: the quota of a long window is spent; a limiter without endpoints treats this as `limit`.
   *
   * @defaultValue "limit"
   */
  kind?: "limit" | "overload" | "quota" | undefined;
}

/** The state of a resource. */
export interface Capacity {
  readonly resource: string;
  /** Whole tokens available now. */
  readonly available: number;
  /** Tokens per window. */
  readonly total: number;
  readonly windowMs: number;
  /** Requests that were granted and have not been finished or released. */
  readonly inFlight: number;
}

/** A change of a resource's capacity. */
export interface CapacityUpdate {
  readonly resource: string;
  /** The agent that caused the change. */
  readonly agentId: string;
  readonly newCapacity: number;
  readonly reason: string;
  readonly timestamp: Date;
}
