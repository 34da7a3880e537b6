import type { EndpointConfig, KeyLimits } from "@hivepace/core";
import { type Amounts, type Dimension, LIMITS, limitsOf } from "./amounts.ts";

/** One grant, and what is known of its cost. */
export interface Entry extends Amounts {
  readonly at: number;
  /** The hive that granted it. */
  readonly owner: number;
  readonly target: string;
  readonly key: string | undefined;
  /**
   * The limits at the time of the grant, or the first ones after it where there were none. A limit that is set later
   * starts with the usage since then.
   */
  limits: EndpointConfig;
  /** All limits that counted it are gone: what the call turns out to have used beyond its estimate counts nowhere either. */
  isForgotten?: boolean;
  /** What was counted at first: a refund that comes after the window does not change it. */
  readonly counted: Readonly<Amounts>;
}

/** How full a limit is, and which one. */
export interface Fullness {
  readonly ratio: number;
  readonly what: string;
}

/**
 * The reference model: everything that was granted, kept for ever and summed from the beginning at every question. Slow,
 * obvious, and independent of how the engine counts.
 */
export class Ledger {
  readonly #entries: Entry[] = [];

  add(entry: Entry): Entry {
    this.#entries.push(entry);
    return entry;
  }

  /**
   * Limits have changed: usage from before there were any counts for the first ones, and usage of a limit that is gone is
   * forgotten with it.
   */
  reconfigured(endpoints: readonly EndpointConfig[], nameOf: (config: EndpointConfig) => string): void {
    for (const entry of this.#entries) {
      const config = endpoints.find((each) => nameOf(each) === entry.target);
      if (!config || isUnlimited(config)) continue;
      const former = isUnlimited(entry.limits) ? config : entry.limits;
      const kept = Object.keys(LIMITS).filter((option) => config[option as keyof typeof LIMITS] !== undefined);
      entry.limits = {
        id: former.id,
        ...Object.fromEntries(kept.map((option) => [option, former[option as keyof typeof LIMITS]])),
      };
      // Nothing of it is counted any more: it must not pass for usage without limits.
      if (!isUnlimited(entry.limits)) continue;
      entry.isForgotten = true;
      clear(entry);
    }
  }

  /** A hive that forgets an endpoint may forget its usage with it. */
  forgetRemoved(isKnown: (target: string) => boolean): void {
    for (const entry of this.#entries) if (!isKnown(entry.target)) clear(entry);
  }

  /** What was granted of one dimension in the span of time that ends now. */
  used(target: string, dimension: Dimension, spanMs: number, now: number): number {
    let used = 0;
    for (const entry of this.#entries) if (entry.target === target && entry.at > now - spanMs) used += entry[dimension];
    return used;
  }

  /** What was counted in the short time before that span, which may be counted still. */
  leaving(target: string, dimension: Dimension, spanMs: number, lateMs: number, now: number): number {
    let leaving = 0;
    for (const { target: of, at, counted } of this.#entries)
      if (of === target && at <= now - spanMs && at > now - spanMs - lateMs) leaving += counted[dimension];
    return leaving;
  }

  /** The largest ratio of usage to limit over the limits of a target, in the window that ends now. */
  fullness(target: string, limits: EndpointConfig, windowMs: number, now: number): Fullness {
    let worst: Fullness = { ratio: 0, what: "" };
    for (const { dimension, limit } of limitsOf(limits)) {
      const option = optionOf(dimension);
      const span = spanOf(limit, windowMs);
      const most = span === windowMs ? limit : 1;
      let used = 0;
      for (const entry of this.#entries) {
        if (entry.target !== target) continue;
        const known = entry.limits[option];
        // Usage is remembered for as long as the limit at the time of the grant asked for.
        const rememberedMs = known === undefined ? (isUnlimited(entry.limits) ? windowMs : 0) : spanOf(known, windowMs);
        if (entry.at > now - Math.min(span, rememberedMs)) used += entry[dimension];
      }
      worst = fuller(worst, used, most, `${dimension} in ${span} ms`);
    }
    return worst;
  }

  /**
   * How full the limits of a key are with the calls since `since`: over all hives, or of one (`owner`).
   */
  keyFullness(key: string, limits: KeyLimits, since: number, owner: number | undefined): Fullness {
    let [requests, tokens] = [0, 0];
    for (const entry of this.#entries) {
      if (entry.key !== key || entry.at < since || (owner !== undefined && entry.owner !== owner)) continue;
      requests += entry.requests;
      tokens += entry.tokens;
    }
    const { rateLimitRpm, rateLimitTpm } = limits;
    let worst: Fullness = { ratio: 0, what: "" };
    if (rateLimitRpm !== undefined) worst = fuller(worst, requests, rateLimitRpm, `requests of key ${key}`);
    if (rateLimitTpm !== undefined) worst = fuller(worst, tokens, rateLimitTpm, `tokens of key ${key}`);
    return worst;
  }
}

/** Takes back all of a grant. */
export function clear(entry: Entry): void {
  entry.requests = entry.tokens = entry.inputTokens = entry.outputTokens = 0;
}

function fuller(worst: Fullness, used: number, most: number, of: string): Fullness {
  const ratio = used === 0 ? 0 : used / most;
  return ratio > worst.ratio ? { ratio, what: `${used} of ${most} ${of}` } : worst;
}

/** A limit below one is held over the window in which it is one. */
function spanOf(limit: number, windowMs: number): number {
  return limit > 0 && limit < 1 ? windowMs / limit : windowMs;
}

function optionOf(dimension: Dimension): keyof typeof LIMITS {
  return (Object.keys(LIMITS) as (keyof typeof LIMITS)[]).find((option) => LIMITS[option] === dimension) ?? "rpmLimit";
}

function isUnlimited(limits: EndpointConfig): boolean {
  return limitsOf(limits).length === 0;
}
