import type { KeyLimits, RateManager } from "@hivepace/core";
import type { GlobalView } from "../global-view/view-types.ts";

/**
 * Keys that all agents count together, through the store: what others have used of a key in this window is taken from what
 * is left of it here. About a sync late; when the window is over, or nothing is known, each key has its whole limit.
 */
export class SharedKeys {
  readonly #manager: RateManager;
  readonly #view: Pick<GlobalView, "othersOfKey">;
  #limits: ReadonlyMap<string, KeyLimits> = new Map();
  /** Those that have less here than their limit. */
  readonly #lowered = new Set<string>();
  #window = Number.NaN;

  constructor(manager: RateManager, view: Pick<GlobalView, "othersOfKey">) {
    this.#manager = manager;
    this.#view = view;
  }

  set(limits: ReadonlyMap<string, KeyLimits>): void {
    this.#limits = limits;
    this.#lowered.clear();
    this.refresh();
  }

  /** After a sync: what others have used is known anew. True when a key has more now than before. */
  refresh(): boolean {
    const { windowStart, keys } = this.#manager.snapshot();
    let isMore = this.#restore(windowStart);
    for (const { id, rateLimitRpm } of keys) {
      const limits = this.#limits.get(id);
      if (!limits) continue;
      const others = this.#view.othersOfKey(id);
      const { requests = 0, tokens = 0 } = others ?? {};
      if (requests === 0 && tokens === 0 && !this.#lowered.has(id)) continue;
      const rpm = less(limits.rateLimitRpm, requests);
      this.#manager.setKey(id, { rateLimitRpm: rpm, rateLimitTpm: less(limits.rateLimitTpm, tokens) });
      this.#lowered.add(id);
      if ((rpm ?? Infinity) > rateLimitRpm) isMore = true;
    }
    return isMore;
  }

  /** Keys that were lowered in a window that is over are whole again. True when there were any. */
  renew(windowStart: number): boolean {
    return this.#lowered.size > 0 && this.#restore(windowStart);
  }

  #restore(windowStart: number): boolean {
    if (windowStart === this.#window) return false;
    this.#window = windowStart;
    const wasLowered = this.#lowered.size > 0;
    for (const id of this.#lowered) {
      const limits = this.#limits.get(id);
      if (limits) this.#manager.setKey(id, limits);
    }
    this.#lowered.clear();
    return wasLowered;
  }
}

/** In whole numbers, unless the limit itself is below one: a rest of 0.5 is no call, and not one in two windows. */
function less(limit: number | undefined, used: number): number | undefined {
  if (limit === undefined || (limit < 1 && used === 0)) return limit;
  return Math.max(0, Math.floor(limit - used));
}
