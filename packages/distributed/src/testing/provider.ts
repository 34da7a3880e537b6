import type { LimitDimension, LimitObservation, ObservedLimit } from "@hivepace/core";
import { type Amounts, at, scaled } from "../engine/index.ts";
import { drawSize } from "./costs.ts";
import type { Limits } from "./options.ts";
import { amountsOf } from "./options.ts";
import { type Counter, newCounter } from "./provider-counters.ts";
import type { ProviderOptions } from "./provider-options.ts";
import type { Answer, Call } from "./world.ts";

const DAY_MS = 86_400_000;
const REFUSED = { outcome: "refused" } as const;

/**
 * The provider of one endpoint: decides on calls as they arrive, counts usage by its own rules, and answers like a real
 * provider.
 */
export class Provider {
  readonly #options: ProviderOptions;
  readonly #windowMs: number;
  readonly #dimensions: readonly LimitDimension[];
  /** A separate random sequence, so that random answers do not change the rest of the run. */
  readonly #random: () => number;
  readonly #main: Counter;
  readonly #pieces: Counter | undefined;
  readonly #quota: Quota | undefined;
  #limits: Amounts;
  #factor = 1;
  #inFlight = 0;

  constructor(options: ProviderOptions, limits: Limits, windowMs: number, random: () => number) {
    const { kind, burst, subWindowMs, quota } = options;
    this.#options = options;
    this.#windowMs = windowMs;
    this.#random = random;
    this.#limits = amountsOf(limits);
    this.#dimensions = dimensionsOf(limits);
    this.#main = newCounter(kind, this.#limits, windowMs, burst);
    this.#pieces =
      subWindowMs === undefined ? undefined : newCounter(kind, this.#piece(), subWindowMs, Math.max(1, burst));
    this.#quota = quota && new Quota(quota);
  }

  /** Decides on a call, and counts the usage that is counted at the start. */
  begin(call: Call, now: number): Answer {
    const { failures, maxInFlight = Infinity, countsRefused, retryAfterMs } = this.#options;
    if (failures) {
      const chance = this.#random();
      const { errors = 0, overloads = 0, retryAfterMs: waitMs } = failures;
      if (chance < errors) return { outcome: "failed" };
      if (chance < errors + overloads) return { outcome: "overloaded", retryAfterMs: waitMs };
    }
    if (this.#quota && !this.#quota.fits(call, now))
      return { ...REFUSED, retryAfterMs: this.#quota.waitMs(now), isQuota: true };
    const asked = this.#atStart(call);
    const isFree = this.#main.fits(asked, now) && (this.#pieces?.fits(asked, now) ?? true);
    if (!isFree || this.#inFlight >= maxInFlight || !this.#hasLeft(now)) {
      if (countsRefused) this.#count(this.#requestOnly(), now);
      return { ...REFUSED, retryAfterMs };
    }
    this.#count(asked, now);
    this.#inFlight++;
    return { outcome: "accepted" };
  }

  /** Ends an accepted call, and counts the usage that was not counted at the start. */
  end(call: Call, now: number): void {
    this.#inFlight--;
    this.#quota?.count(call, now);
    if (this.#options.countsTokens !== "usage-at-end") return;
    this.#count(
      this.#dimensions.map((dimension, i) => (dimension === "tokens" ? at(call.actual, i) : 0)),
      now,
    );
  }

  /**
   * The duration of a call: accepted calls take `callMs` if set, all others the usual latency, which `random` draws.
   */
  answerMs({ outcome }: Answer, random: () => number): number {
    const { latencyMs, callMs } = this.#options;
    const [least, most] = latencyMs;
    const ms = least + (most - least) * random();
    return callMs && outcome === "accepted" ? drawSize(callMs, this.#random) : ms;
  }

  /** The rate-limit headers of an answer, or undefined when the provider sends none. */
  headers(now: number): LimitObservation["limits"] | undefined {
    if (!this.#options.headers) return undefined;
    const left = this.#main.left(now);
    const resetMs = this.#main.resetMs(now);
    const limits: Partial<Record<LimitDimension, ObservedLimit>> = { ...this.#quota?.headers(now) };
    for (const [i, dimension] of this.#dimensions.entries())
      limits[dimension] = { limit: at(this.#allowed, i), remaining: Math.max(0, Math.floor(at(left, i))), resetMs };
    return limits;
  }

  /** Reduces the limits to this fraction from now on. */
  setFactor(factor: number): void {
    this.#factor = factor;
    this.#allow();
  }

  setLimits(limits: Amounts): void {
    this.#limits = limits;
    this.#allow();
  }

  get #allowed(): Amounts {
    return scaled(this.#limits, this.#factor);
  }

  #allow(): void {
    this.#main.allow(this.#allowed);
    this.#pieces?.allow(this.#piece());
  }

  /** The limit of a sub-window: a proportional part of the limit, and at least one call. */
  #piece(): number[] {
    const part = (this.#options.subWindowMs ?? this.#windowMs) / this.#windowMs;
    return this.#allowed.map((amount) => Math.max(1, Math.floor(amount * part)));
  }

  #count(amounts: Amounts, now: number): void {
    this.#main.count(amounts, now);
    this.#pieces?.count(amounts, now);
  }

  #atStart(call: Call): Amounts {
    switch (this.#options.countsTokens) {
      case "actual-at-start":
        return call.actual;
      case "estimate-at-start":
        return call.expected;
      case "usage-at-end":
        return this.#requestOnly();
    }
  }

  #requestOnly(): number[] {
    return this.#dimensions.map((dimension) => (dimension === "requests" ? 1 : 0));
  }

  /**
   * A provider that counts tokens at the end refuses only when none remain, because the size of a new call is not
   * known.
   */
  #hasLeft(now: number): boolean {
    if (this.#options.countsTokens !== "usage-at-end") return true;
    const left = this.#main.left(now);
    return this.#dimensions.every((dimension, i) => dimension !== "tokens" || at(left, i) > 0);
  }
}

/** A quota over a long window, such as a day, in addition to the rate limits. */
class Quota {
  readonly #options: NonNullable<ProviderOptions["quota"]>;
  readonly #dimensions: readonly LimitDimension[];
  readonly #limits: Amounts;
  readonly #windowMs: number;
  readonly #counter: Counter;

  constructor(options: NonNullable<ProviderOptions["quota"]>) {
    const { windowMs = DAY_MS, used = 0 } = options;
    this.#options = options;
    this.#windowMs = windowMs;
    this.#limits = amountsOf(options);
    this.#dimensions = dimensionsOf(options);
    this.#counter = newCounter("fixed", this.#limits, windowMs);
    this.#counter.count(scaled(this.#limits, used), 0);
  }

  fits(call: Call, now: number): boolean {
    const least = this.#amounts(call).map((amount) => Math.min(1, amount));
    return this.#counter.fits(least, now);
  }

  count(call: Call, now: number): void {
    this.#counter.count(this.#amounts(call), now);
  }

  /** The wait in a refusal: the time until the window ends, or undefined when the provider does not state it. */
  waitMs(now: number): number | undefined {
    return this.#options.tellsWait ? this.#counter.resetMs(now) : undefined;
  }

  headers(now: number): Partial<Record<LimitDimension, ObservedLimit>> {
    const left = this.#counter.left(now);
    return Object.fromEntries(
      this.#dimensions.map((dimension, i) => [
        dimension,
        {
          limit: at(this.#limits, i),
          remaining: Math.max(0, Math.floor(at(left, i))),
          resetMs: this.#counter.resetMs(now),
          windowMs: this.#windowMs,
        },
      ]),
    );
  }

  #amounts({ tokens }: Call): number[] {
    return this.#dimensions.map((dimension) => (dimension === "requests" ? 1 : tokens.actual));
  }
}

function dimensionsOf({ requests, tokens }: Limits): LimitDimension[] {
  return [
    ...(requests === undefined ? [] : ["requests" as const]),
    ...(tokens === undefined ? [] : ["tokens" as const]),
  ];
}
