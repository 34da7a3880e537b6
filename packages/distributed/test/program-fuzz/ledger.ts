import type { EndpointConfig } from "@hivepace/core";

/** One grant, and what is known of its cost. */
export interface Entry {
  readonly at: number;
  readonly target: string;
  readonly key: string | undefined;
  /**
   * The limits at the time of the grant, or the first ones after it where there were none. A limit that is set later
   * starts with the usage since then.
   */
  limits: EndpointConfig;
  requests: number;
  tokens: number;
  inputTokens: number;
}

const DIMENSIONS = { rpmLimit: "requests", tpmLimit: "tokens", inputTpmLimit: "inputTokens" } as const;

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
      const { rpmLimit, tpmLimit, inputTpmLimit } = isUnlimited(entry.limits) ? config : entry.limits;
      entry.limits = {
        id: entry.limits.id,
        rpmLimit: config.rpmLimit === undefined ? undefined : rpmLimit,
        tpmLimit: config.tpmLimit === undefined ? undefined : tpmLimit,
        inputTpmLimit: config.inputTpmLimit === undefined ? undefined : inputTpmLimit,
      };
      // Nothing of it is counted any more: it must not pass for usage without limits.
      if (isUnlimited(entry.limits)) entry.requests = entry.tokens = entry.inputTokens = 0;
    }
  }

  /** A hive that forgets an endpoint may forget its usage with it. */
  forgetRemoved(isKnown: (target: string) => boolean): void {
    for (const entry of this.#entries)
      if (!isKnown(entry.target)) entry.requests = entry.tokens = entry.inputTokens = 0;
  }

  /** The largest ratio of usage to limit over the limits of a target, in the window that ends now. */
  fullness(target: string, limits: EndpointConfig, windowMs: number, now: number): { ratio: number; what: string } {
    let worst = { ratio: 0, what: "" };
    for (const [option, dimension] of Object.entries(DIMENSIONS) as [keyof typeof DIMENSIONS, "requests"][]) {
      const limit = limits[option];
      if (limit === undefined) continue;
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
      const ratio = used === 0 ? 0 : used / most;
      if (ratio > worst.ratio) worst = { ratio, what: `${used} of ${most} ${dimension} in ${span} ms` };
    }
    return worst;
  }
}

/** A limit below one is held over the window in which it is one. */
function spanOf(limit: number, windowMs: number): number {
  return limit > 0 && limit < 1 ? windowMs / limit : windowMs;
}

function isUnlimited(limits: EndpointConfig): boolean {
  return Object.keys(DIMENSIONS).every((option) => limits[option as keyof typeof DIMENSIONS] === undefined);
}
