import { AMOUNT, isAmount } from "./amount.ts";
import { InvalidCapacityError, InvalidWindowError } from "./errors.ts";

/** A rate limit: `capacity` tokens per `windowMs`, refilled continuously, and at most `burst` at once. */
export interface BucketLimit {
  readonly capacity: number;
  readonly windowMs: number;
  /**
   * The largest number of tokens that the bucket holds; it starts with this many.
   *
   * @defaultValue `capacity`, but at least 1
   */
  readonly burst?: number | undefined;
}

/**
 * Times that differ by less than this, a nanosecond, count as equal. The tolerance absorbs the rounding of `a + (b -
 * a)`.
 */
export const SAME_MS = 1e-6;

/**
 * A token bucket with exact, continuous refill. Time is an argument, in milliseconds of any monotonic clock.
 *
 * The level is kept in token-milliseconds (tokens × windowMs), so that a refill is `elapsed × capacity` and a cost is
 * `cost × windowMs`. With whole numbers no operation rounds, however often the bucket is read.
 */
export class TokenBucket {
  #capacity: number;
  #windowMs: number;
  #burst: number;
  // NaN tells V8 that these fields hold fractions. With an integer here every write would allocate, a quarter of a
  // decision's cost.
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

  /** Takes `cost` tokens if they are available. */
  take(cost: number, now: number): boolean {
    TokenBucket.#refill(this, now);
    const level = this.#level - cost * this.#windowMs;
    // A deficit below a nanosecond's refill counts as zero; the bucket keeps the deficit, so no token is granted twice.
    if (level < -SAME_MS * this.#capacity) return false;
    this.#level = level;
    return true;
  }

  /** Returns `cost` tokens; tokens above the burst are lost. */
  give(cost: number, now: number): void {
    TokenBucket.#refill(this, now);
    this.#level = Math.min(this.#burst * this.#windowMs, this.#level + cost * this.#windowMs);
  }

  /** The tokens available now, with fractions; negative after a resize below the spent amount. */
  tokens(now: number): number {
    TokenBucket.#refill(this, now);
    return this.#level / this.#windowMs;
  }

  /** The available tokens in whole numbers: the count that single `take` calls would grant. */
  wholeTokens(now: number): number {
    TokenBucket.#refill(this, now);
    return Math.floor((this.#level + SAME_MS * this.#capacity) / this.#windowMs);
  }

  /**
   * Time until `cost` tokens are available; 0 when they are. A cost above `burst` is never available at once, and the
   * result is the time in which that many tokens can pass.
   */
  waitMs(cost: number, now: number): number {
    TokenBucket.#refill(this, now);
    const wait = (cost * this.#windowMs - this.#level) / this.#capacity;
    return wait <= SAME_MS ? 0 : wait;
  }

  /** The time, on the clock of `now`, at which `cost` tokens are available; in the past when they already are. */
  readyAt(cost: number, now: number): number {
    if (now < this.#at) this.#at = now;
    return this.#at + (cost * this.#windowMs - this.#level) / this.#capacity;
  }

  isFull(now: number): boolean {
    TokenBucket.#refill(this, now);
    return this.#level >= this.#burst * this.#windowMs;
  }

  /** Changes the limit. Spent tokens stay spent: a resize and its reversal leave the level unchanged. */
  resize(limit: BucketLimit, now: number): void {
    const { capacity, windowMs, burst = burstOf(capacity) } = checkBucketLimit(limit);
    TokenBucket.#refill(this, now);
    const spent = this.#burst * this.#windowMs - this.#level;
    this.#level = burst * windowMs - (windowMs === this.#windowMs ? spent : (spent / this.#windowMs) * windowMs);
    this.#capacity = capacity;
    this.#windowMs = windowMs;
    this.#burst = burst;
  }

  // Static, because a private method would cost every bucket one word.
  static #refill(bucket: TokenBucket, now: number): void {
    const elapsed = now - bucket.#at;
    bucket.#at = now;
    // A clock that jumped back neither adds nor removes tokens; the refill continues from the new time.
    if (elapsed > 0)
      bucket.#level = Math.min(bucket.#burst * bucket.#windowMs, bucket.#level + elapsed * bucket.#capacity);
  }
}

/** A bucket that holds less than one token could never grant one, so 0.5 a minute means one in two minutes. */
function burstOf(capacity: number): number {
  return Math.max(1, capacity);
}

/** Returns the limit, or throws INVALID_CAPACITY or INVALID_WINDOW. */
function checkBucketLimit(limit: BucketLimit): BucketLimit {
  const { capacity, windowMs, burst } = limit;
  if (!isAmount(capacity)) throw new InvalidCapacityError("capacity", AMOUNT, capacity);
  if (!isAmount(windowMs)) throw new InvalidWindowError("windowMs", AMOUNT, windowMs);
  if (burst !== undefined && !isAmount(burst)) throw new InvalidCapacityError("burst", AMOUNT, burst);
  return limit;
}
