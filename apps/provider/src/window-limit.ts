/** Limits per window; an absent limit means unlimited. */
export interface Limits {
  readonly rpm?: number | undefined;
  readonly tpm?: number | undefined;
}

export type WindowKind = "sliding" | "fixed" | "bucket";

export interface Verdict {
  readonly allowed: boolean;
  /**
   * For a refusal, the time after which the request would be accepted if nothing else came; Infinity for a request
   * above the limit.
   */
  readonly retryAfterMs: number;
  /** The limit that refused. */
  readonly limitedBy: "requests" | "tokens" | undefined;
}

export interface DimensionState {
  readonly limit: number;
  readonly remaining: number;
  /** The time until all usage has expired. */
  readonly resetMs: number;
}

/** One limit over one window. Time is an argument and never goes back. */
interface Meter {
  readonly limit: number;
  /** Returns the time until `amount` is available; 0 when it is now. */
  waitMs(amount: number, now: number): number;
  take(amount: number, now: number): void;
  resize(limit: number, now: number): void;
  state(now: number): DimensionState;
}

/**
 * A sliding window: usage in any interval of the window's length stays within the limit, as strict providers enforce
 * it.
 */
class SlidingMeter implements Meter {
  limit: number;
  readonly #windowMs: number;
  readonly #taken: { readonly at: number; readonly amount: number }[] = [];
  #used = 0;

  constructor(limit: number, windowMs: number) {
    this.limit = limit;
    this.#windowMs = windowMs;
  }

  waitMs(amount: number, now: number): number {
    this.#forget(now);
    if (amount > this.limit) return Infinity;
    let used = this.#used;
    if (used + amount <= this.limit) return 0;
    for (const { at, amount: freed } of this.#taken) {
      used -= freed;
      if (used + amount <= this.limit) return at + this.#windowMs - now;
    }
    return this.#windowMs;
  }

  take(amount: number, now: number): void {
    this.#taken.push({ at: now, amount });
    this.#used += amount;
  }

  resize(limit: number): void {
    this.limit = limit;
  }

  state(now: number): DimensionState {
    this.#forget(now);
    const last = this.#taken.at(-1);
    const resetMs = last === undefined ? 0 : last.at + this.#windowMs - now;
    return { limit: this.limit, remaining: Math.max(0, this.limit - this.#used), resetMs };
  }

  #forget(now: number): void {
    let first = this.#taken[0];
    while (first !== undefined && first.at <= now - this.#windowMs) {
      this.#used -= first.amount;
      this.#taken.shift();
      first = this.#taken[0];
    }
  }
}

/** A fixed window: usage resets at window boundaries, so that twice the limit can pass around a boundary. */
class FixedMeter implements Meter {
  limit: number;
  readonly #windowMs: number;
  #window = -1;
  #used = 0;

  constructor(limit: number, windowMs: number) {
    this.limit = limit;
    this.#windowMs = windowMs;
  }

  waitMs(amount: number, now: number): number {
    this.#turn(now);
    if (amount > this.limit) return Infinity;
    return this.#used + amount <= this.limit ? 0 : this.#restMs(now);
  }

  take(amount: number, now: number): void {
    this.#turn(now);
    this.#used += amount;
  }

  resize(limit: number): void {
    this.limit = limit;
  }

  state(now: number): DimensionState {
    this.#turn(now);
    const resetMs = this.#used === 0 ? 0 : this.#restMs(now);
    return { limit: this.limit, remaining: Math.max(0, this.limit - this.#used), resetMs };
  }

  #restMs(now: number): number {
    return (this.#window + 1) * this.#windowMs - now;
  }

  #turn(now: number): void {
    const window = Math.floor(now / this.#windowMs);
    if (window === this.#window) return;
    this.#window = window;
    this.#used = 0;
  }
}

/** A token bucket that starts full. */
class BucketMeter implements Meter {
  limit: number;
  readonly #windowMs: number;
  #tokens: number;
  #at = 0;

  constructor(limit: number, windowMs: number) {
    this.limit = limit;
    this.#windowMs = windowMs;
    this.#tokens = limit;
  }

  waitMs(amount: number, now: number): number {
    this.#refill(now);
    if (amount > this.limit) return Infinity;
    return this.#tokens >= amount ? 0 : this.#timeFor(amount - this.#tokens);
  }

  take(amount: number, now: number): void {
    this.#refill(now);
    this.#tokens -= amount;
  }

  resize(limit: number, now: number): void {
    this.#refill(now);
    this.#tokens = Math.min(limit, this.#tokens + Math.max(0, limit - this.limit));
    this.limit = limit;
  }

  state(now: number): DimensionState {
    this.#refill(now);
    const remaining = Math.max(0, Math.floor(this.#tokens));
    return { limit: this.limit, remaining, resetMs: this.#timeFor(this.limit - this.#tokens) };
  }

  #timeFor(amount: number): number {
    return (amount * this.#windowMs) / this.limit;
  }

  #refill(now: number): void {
    const passed = Math.max(0, now - this.#at);
    this.#tokens = Math.min(this.limit, this.#tokens + (passed * this.limit) / this.#windowMs);
    this.#at = now;
  }
}

const METERS = { sliding: SlidingMeter, fixed: FixedMeter, bucket: BucketMeter };

/** Limits of requests and tokens: an accepted request consumes both. */
export class WindowLimit {
  readonly #windowMs: number;
  readonly #kind: WindowKind;
  readonly #countsRefused: boolean;
  #requests: Meter | undefined;
  #tokens: Meter | undefined;

  /** `countsRefused`: a refused request consumes one request of the limit, and no tokens. */
  constructor(kind: WindowKind, windowMs: number, limits: Limits, countsRefused = false) {
    this.#kind = kind;
    this.#windowMs = windowMs;
    this.#countsRefused = countsRefused;
    this.#requests = this.#meter(limits.rpm);
    this.#tokens = this.#meter(limits.tpm);
  }

  tryTake(tokens: number, now: number): Verdict {
    const forRequest = this.#requests?.waitMs(1, now) ?? 0;
    const forTokens = this.#tokens?.waitMs(tokens, now) ?? 0;
    const retryAfterMs = Math.max(forRequest, forTokens);
    if (retryAfterMs > 0) {
      if (this.#countsRefused) this.#requests?.take(1, now);
      return { allowed: false, retryAfterMs, limitedBy: forRequest >= forTokens ? "requests" : "tokens" };
    }
    this.#requests?.take(1, now);
    this.#tokens?.take(tokens, now);
    return { allowed: true, retryAfterMs: 0, limitedBy: undefined };
  }

  /** Keeps the usage. A limit that is present and undefined is removed. */
  setLimits(limits: Limits, now: number): void {
    if ("rpm" in limits) this.#requests = this.#resized(this.#requests, limits.rpm, now);
    if ("tpm" in limits) this.#tokens = this.#resized(this.#tokens, limits.tpm, now);
  }

  state(now: number): { readonly requests: DimensionState | undefined; readonly tokens: DimensionState | undefined } {
    return { requests: this.#requests?.state(now), tokens: this.#tokens?.state(now) };
  }

  #meter(limit: number | undefined): Meter | undefined {
    return limit === undefined ? undefined : new METERS[this.#kind](limit, this.#windowMs);
  }

  #resized(meter: Meter | undefined, limit: number | undefined, now: number): Meter | undefined {
    if (limit === undefined || meter === undefined) return this.#meter(limit);
    meter.resize(limit, now);
    return meter;
  }
}
