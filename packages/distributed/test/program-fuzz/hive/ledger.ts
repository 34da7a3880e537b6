import type { EndpointConfig, KeyLimits } from "@hivepace/core";
import { type Amounts, type Dimension, LIMITS, limitsOf } from "./amounts.ts";

/** One grant with its known cost. */
export interface Entry extends Amounts {
  readonly at: number;
  /** The hive that granted it. */
  readonly owner: number;
  readonly target: string;
  readonly key: string | undefined;
  /**
   * The limits at the time of the grant, or the first ones after it if there were none. A limit that is set later
   * begins with the usage from then on.
   */
  limits: EndpointConfig;
  /** All limits that counted the grant are gone, so that usage beyond its estimate is not counted either. */
  isForgotten?: boolean;
  /** The amounts counted at the grant: a refund after the end of the window does not change them. */
  readonly counted: Readonly<Amounts>;
}

/** The ratio of usage to a limit, and a description of that limit. */
export interface Fullness {
  readonly ratio: number;
  readonly what: string;
}

/**
 * The reference model: keeps every grant forever, and sums from the beginning for each query. Slow, obvious, and
 * independent of how the engine counts.
 */
export class Ledger {
  readonly #entries: Entry[] = [];

  add(entry: Entry): Entry {
    this.#entries.push(entry);
    return entry;
  }

  /**
   * Applies changed limits: usage from before there were any limits counts for the first ones, and the usage of a
   * removed limit is forgotten with the limit.
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
      // The entry is no longer counted, and must not pass for usage without limits.
      if (!isUnlimited(entry.limits)) continue;
      entry.isForgotten = true;
      clear(entry);
    }
  }

  /** Clears the usage of unknown targets: a hive that removes an endpoint may forget its usage. */
  forgetRemoved(isKnown: (target: string) => boolean): void {
    for (const entry of this.#entries) if (!isKnown(entry.target)) clear(entry);
  }

  /** The amount granted in one dimension during the last `spanMs`. */
  used(target: string, dimension: Dimension, spanMs: number, now: number): number {
    let used = 0;
    for (const entry of this.#entries) if (entry.target === target && entry.at > now - spanMs) used += entry[dimension];
    return used;
  }

  /** The amount counted shortly before that span, which may still count because usage expires up to `lateMs` late. */
  leaving(target: string, dimension: Dimension, spanMs: number, lateMs: number, now: number): number {
    let leaving = 0;
    for (const { target: of, at, counted } of this.#entries)
      if (of === target && at <= now - spanMs && at > now - spanMs - lateMs) leaving += counted[dimension];
    return leaving;
  }

  /** The largest ratio of usage to limit among the limits of a target, in the window that ends now. */
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
        // Usage is remembered for the window of the limit at the time of the grant.
        const rememberedMs = known === undefined ? (isUnlimited(entry.limits) ? windowMs : 0) : spanOf(known, windowMs);
        if (entry.at > now - Math.min(span, rememberedMs)) used += entry[dimension];
      }
      worst = fuller(worst, used, most, `${dimension} in ${span} ms`);
    }
    return worst;
  }

  /** How full the limits of a key are with the calls since `since`, of all hives or only of `owner`. */
  keyFullness(key: string, limits: KeyLimits, since: number, owner: number | undefined): Fullness {
    let [requests, tokens] = [0, 0];
    for (const entry of this.#entries) {
      if (entry.key !== key || entry.at < since || (owner !== undefined && entry.owner !== owner)) continue;
      requests += entry.requests;
      tokens += entry.tokens;
    }
    const { rpmLimit, tpmLimit } = limits;
    let worst: Fullness = { ratio: 0, what: "" };
    if (rpmLimit !== undefined) worst = fuller(worst, requests, rpmLimit, `requests of key ${key}`);
    if (tpmLimit !== undefined) worst = fuller(worst, tokens, tpmLimit, `tokens of key ${key}`);
    return worst;
  }
}

/** Clears all amounts of a grant. */
export function clear(entry: Entry): void {
  entry.requests = entry.tokens = entry.inputTokens = entry.outputTokens = 0;
}

function fuller(worst: Fullness, used: number, most: number, of: string): Fullness {
  const ratio = used === 0 ? 0 : used / most;
  return ratio > worst.ratio ? { ratio, what: `${used} of ${most} ${of}` } : worst;
}

/** A limit below one is enforced over the longer window in which it allows one. */
function spanOf(limit: number, windowMs: number): number {
  return limit > 0 && limit < 1 ? windowMs / limit : windowMs;
}

function optionOf(dimension: Dimension): keyof typeof LIMITS {
  return (Object.keys(LIMITS) as (keyof typeof LIMITS)[]).find((option) => LIMITS[option] === dimension) ?? "rpmLimit";
}

function isUnlimited(limits: EndpointConfig): boolean {
  return limitsOf(limits).length === 0;
}
