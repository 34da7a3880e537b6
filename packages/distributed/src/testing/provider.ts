import { type Amounts, addTo, at, fits, minus, scaled, zeros } from "../engine/amounts.ts";
import { ExactWindow } from "./exact-window.ts";
import type { ProviderOptions } from "./options.ts";

/** A provider that enforces its limits to the unit. */
export interface Provider {
  /** Counts the call and accepts it, or refuses it and counts nothing. */
  accepts(amounts: Amounts, now: number): boolean;
  /** Allows only this part from now on. */
  setFactor(factor: number): void;
  setLimits(limits: Amounts): void;
}

export function newProvider({ kind, burst }: ProviderOptions, limits: Amounts, windowMs: number): Provider {
  if (kind === "sliding") return new SlidingProvider(limits, windowMs);
  return kind === "fixed" ? new FixedProvider(limits, windowMs) : new BucketProvider(limits, windowMs, burst);
}

abstract class Limited {
  #limits: Amounts;
  #factor = 1;

  constructor(limits: Amounts) {
    this.#limits = limits;
  }

  setFactor(factor: number): void {
    this.#factor = factor;
  }

  setLimits(limits: Amounts): void {
    this.#limits = limits;
  }

  protected get allowed(): number[] {
    return scaled(this.#limits, this.#factor);
  }
}

/** No more in any window. */
class SlidingProvider extends Limited implements Provider {
  readonly #window: ExactWindow;

  constructor(limits: Amounts, windowMs: number) {
    super(limits);
    this.#window = new ExactWindow(limits.length, windowMs);
  }

  accepts(amounts: Amounts, now: number): boolean {
    this.#window.expire(now);
    if (!fits(amounts, minus(this.allowed, this.#window.sum))) return false;
    this.#window.add(now, amounts);
    return true;
  }
}

/** Whole windows, one after the other. */
class FixedProvider extends Limited implements Provider {
  readonly #windowMs: number;
  #window = -1;
  #sum: number[] = [];

  constructor(limits: Amounts, windowMs: number) {
    super(limits);
    this.#windowMs = windowMs;
  }

  accepts(amounts: Amounts, now: number): boolean {
    // Windows begin when the provider likes.
    const window = Math.floor((now + this.#windowMs / 3) / this.#windowMs);
    if (window !== this.#window) {
      this.#window = window;
      this.#sum = zeros(amounts.length);
    }
    if (!fits(amounts, minus(this.allowed, this.#sum))) return false;
    addTo(this.#sum, amounts);
    return true;
  }
}

/** A bucket that refills evenly. */
class BucketProvider extends Limited implements Provider {
  readonly #windowMs: number;
  readonly #burst: number;
  readonly #spent: number[];
  #at = 0;

  constructor(limits: Amounts, windowMs: number, burst: number) {
    super(limits);
    this.#windowMs = windowMs;
    this.#burst = burst;
    this.#spent = zeros(limits.length);
  }

  accepts(amounts: Amounts, now: number): boolean {
    const { allowed } = this;
    const part = (now - this.#at) / this.#windowMs;
    this.#at = now;
    for (let i = 0; i < allowed.length; i++) this.#spent[i] = Math.max(0, at(this.#spent, i) - at(allowed, i) * part);
    if (!fits(amounts, minus(scaled(allowed, this.#burst), this.#spent))) return false;
    addTo(this.#spent, amounts);
    return true;
  }
}
