import { at, UsageWindow } from "../engine/index.ts";
import { allOf, DIMENSIONS, type Use } from "./amounts-of.ts";
import type { Target } from "./target.ts";

/**
 * Usage that failed, refused or cancelled calls gave back. Limits do not count it, but routing does: an endpoint on
 * which every call fails would otherwise look empty and attract all calls.
 */
export class Wasted {
  readonly #windowMs: number;
  readonly #byTarget = new WeakMap<Target, UsageWindow>();
  /** Time at which all usage has left its window. */
  #emptyAt = -Infinity;

  constructor(windowMs: number) {
    this.#windowMs = windowMs;
  }

  add(target: Target, use: Use, now: number): void {
    let window = this.#byTarget.get(target);
    if (!window) {
      window = new UsageWindow(DIMENSIONS.length, this.#windowMs);
      this.#byTarget.set(target, window);
    }
    window.add(now, allOf(use));
    window.expire(now);
    this.#emptyAt = now + window.longestMs;
  }

  /** True while nothing that was given back is in its window. */
  isEmpty(now: number): boolean {
    return now >= this.#emptyAt;
  }

  /** The largest fraction of any limit that was given back in the last window. */
  partOf(target: Target, now: number): number {
    const window = this.#byTarget.get(target);
    if (!window) return 0;
    window.expire(now);
    let part = 0;
    for (const { quota, dimensions } of target.shares)
      for (const [i, dimension] of dimensions.entries())
        part = Math.max(part, at(window.sum, DIMENSIONS.indexOf(dimension)) / at(quota.limits, i));
    return part;
  }
}
