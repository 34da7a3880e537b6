import type { Clock } from "@hivepace/core";

interface Amounts {
  readonly requests: number;
  readonly tokens: number;
}

interface Rates {
  readonly rpm: number;
  readonly tpm: number;
  readonly windowMs: number;
}

/**
 * A token bucket like those that Redis scripts implement: continuous refill, requests and tokens in one step, no queue.
 */
export class CentralBucket {
  readonly #perMs: Amounts;
  readonly #burst: Amounts;
  readonly #clock: Clock;
  #requests: number;
  #tokens: number;
  #at: number;

  constructor({ rpm, tpm, windowMs }: Rates, burst: Amounts, clock: Clock) {
    this.#perMs = { requests: rpm / windowMs, tokens: tpm / windowMs };
    this.#burst = burst;
    this.#clock = clock;
    [this.#requests, this.#tokens] = [burst.requests, burst.tokens];
    this.#at = clock.now();
  }

  /** Takes one request and these tokens and returns 0, or takes nothing and returns the milliseconds to wait. */
  take(tokens: number): number {
    this.#refill();
    const lacking = Math.max((1 - this.#requests) / this.#perMs.requests, (tokens - this.#tokens) / this.#perMs.tokens);
    if (lacking > 0) return Math.max(1, lacking);
    this.#requests--;
    this.#tokens -= tokens;
    return 0;
  }

  #refill(): void {
    const now = this.#clock.now();
    const passed = now - this.#at;
    this.#at = now;
    this.#requests = Math.min(this.#burst.requests, this.#requests + passed * this.#perMs.requests);
    this.#tokens = Math.min(this.#burst.tokens, this.#tokens + passed * this.#perMs.tokens);
  }
}
