import { AMOUNT, isAmount } from "./amount.ts";
import { InvalidCapacityError, InvalidWindowError } from "./errors.ts";

/** How much may pass: `capacity` tokens in each `windowMs`, refilled continuously, and at most `burst` at once. */
export interface BucketLimit {
  readonly capacity: number;
  readonly windowMs: number;
  /** What the bucket holds at most, and starts with. Default: `capacity`, and 1 when that is less. */
  readonly burst?: number | undefined;
}

/** Times that differ by less are the same: a nanosecond. It takes up what floating point loses in `a + (b - a)`. */
export const SAME_MS = 1e-6;

/**
 * A token bucket with exact, continuous refill. Time is an argument, in milliseconds of any monotonic clock.
 *
 * The level is kept in token-milliseconds (tokens × windowMs), so that a refill is `elapsed × capacity` and a cost is
 * `cost × windowMs`: with whole numbers nothing is ever rounded, however often anyone looks.
 */
export class TokenBucket {
  #capacity: number;
  #windowMs: number;
  #burst: number;
  // NaN tells V8 that these hold fractions. Without it every write would allocate, a quarter of a decision's cost.
  #level = Number.NaN;
  #at = Number.NaN;

  constructor(limit: BucketLimit, now: number) {
    const { capacity, windowMs, burst = burstOf(capacity) } = checkBucketLimit(limit);
    this.#capacity = capacity;
    this.#windowMs = windowMs;
    this.#burst = burst;
    this.#level = burst * windowMs;
    this.#at = now;
  }

  get capacity(): number {
    return this.#capacity;
  }

  get windowMs(): number {
    return this.#windowMs;
  }

  get burst(): number {
    return this.#burst;
  }

  /** Takes `cost` tokens if they are there. */
  take(cost: number, now: number): boolean {
    TokenBucket.#refill(this, now);
    const level = this.#level - cost * this.#windowMs;
    // Below zero by less than a nanosecond's refill is zero; that little is owed, so nothing is ever given twice.
    if (level < -SAME_MS * this.#capacity) return false;
    this.#level = level;
    return true;
  }

  /** Returns `cost` tokens; what the bucket cannot hold is lost. */
  give(cost: number, now: number): void {
    TokenBucket.#refill(this, now);
    this.#level = Math.min(this.#burst * this.#windowMs, this.#level + cost * this.#windowMs);
  }

  /** The tokens there now, with fractions; below zero after a resize to less than was already spent. */
  tokens(now: number): number {
    TokenBucket.#refill(this, now);
    return this.#level / this.#windowMs;
  }

  /** The same in whole tokens: as many as `take` would give one by one. */
  wholeTokens(now: number): number {
    TokenBucket.#refill(this, now);
    return Math.floor((this.#level + SAME_MS * this.#capacity) / this.#windowMs);
  }

  /**
   * How long until `cost` tokens have come in; 0 when they are there. More than `burst` are never there at once: for
   * those it is the time in which so many can pass.
   */
  waitMs(cost: number, now: number): number {
    TokenBucket.#refill(this, now);
    const wait = (cost * this.#windowMs - this.#level) / this.#capacity;
    return wait <= SAME_MS ? 0 : wait;
  }

  /** When `cost` tokens are there, on the clock of `now`; in the past when they have been there since. */
  readyAt(cost: number, now: number): number {
    if (now < this.#at) this.#at = now;
    return this.#at + (cost * this.#windowMs - this.#level) / this.#capacity;
  }

  isFull(now: number): boolean {
    TokenBucket.#refill(this, now);
    return this.#level >= this.#burst * this.#windowMs;
  }

  /** Changes the limit. What was spent stays spent: there and back again leaves the level as it was. */
  resize(limit: BucketLimit, now: number): void {
    const { capacity, windowMs, burst = burstOf(capacity) } = checkBucketLimit(limit);
    TokenBucket.#refill(this, now);
    const spent = this.#burst * this.#windowMs - this.#level;
    this.#level = burst * windowMs - (windowMs === this.#windowMs ? spent : (spent / this.#windowMs) * windowMs);
    this.#capacity = capacity;
    this.#windowMs = windowMs;
    this.#burst = burst;
  }

  // Static, because a private method would cost every bucket a word.
  static #refill(bucket: TokenBucket, now: number): void {
    const elapsed = now - bucket.#at;
    bucket.#at = now;
    // A clock that jumped back gives nothing and takes nothing; from there on it counts again.
    if (elapsed > 0)
      bucket.#level = Math.min(bucket.#burst * bucket.#windowMs, bucket.#level + elapsed * bucket.#capacity);
  }
}

/** A bucket that holds less than one token would never give one: 0.5 a minute is one in two minutes. */
function burstOf(capacity: number): number {
  return Math.max(1, capacity);
}

/** Throws INVALID_CAPACITY or INVALID_WINDOW, or returns the limit. */
function checkBucketLimit(limit: BucketLimit): BucketLimit {
  const { capacity, windowMs, burst } = limit;
  if (!isAmount(capacity)) throw new InvalidCapacityError("capacity", AMOUNT, capacity);
  if (!isAmount(windowMs)) throw new InvalidWindowError("windowMs", AMOUNT, windowMs);
  if (burst !== undefined && !isAmount(burst)) throw new InvalidCapacityError("burst", AMOUNT, burst);
  return limit;
}
