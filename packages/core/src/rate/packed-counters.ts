import type { CompareAndSwap } from "./cas64.ts";
import {
  FLAGS,
  LAST,
  MOST_REQUESTS,
  MOST_TOKENS,
  ODD,
  REQUEST_LIMIT,
  STRIDE_SHIFT,
  TOKEN_LIMIT,
  TOKENS,
} from "./layout.ts";
import type { Settings } from "./record.ts";

/** The results of `take`. */
export const TAKEN = 0;
export const NO_REQUESTS = 1;
export const NO_TOKENS = 2;

/** Tolerance that absorbs the rounding of a sliding window's weight. */
const SAME = 1e-6;

/**
 * Requests and tokens of many ids, each pair counted in one 64-bit word that is only ever changed by compare-and-swap:
 *
 *      63                            32 31        24 23                     0
 *     ┌────────────────────────────────┬────────────┬────────────────────────┐
 *     │ tokens                         │ tag        │ requests               │
 *     └────────────────────────────────┴────────────┴────────────────────────┘
 *                                        window mod 256
 *
 * The tag is part of the word, so a count and its window change in one step. With the window in a separate word, two
 * threads could both find the new window, and the slower one would count into a word that the faster one has just
 * reset.
 *
 * LAST, next to the word, is the full number of the window for which the word was last prepared; LAST only grows and is
 * claimed before the word is reset. LAST distinguishes a word of 256 windows ago from a current one, and shows a thread
 * with a late clock that others have reached a later window: that thread then counts into the later window and never
 * resets the word to an earlier one.
 *
 * Threads that share memory pass its compare-and-swap; a single thread uses plain stores. The halves of a word are read
 * one after the other, so the pair that was read may never have existed. The compare-and-swap fails on such a pair;
 * therefore a denial is confirmed by one as well (replacing the word by itself).
 */
export class PackedCounters {
  memory: Int32Array;
  readonly isSliding: boolean;
  readonly #cas: CompareAndSwap | undefined;
  /** Distance from the counter of even windows to that of odd ones; 0 with fixed windows, which have only one. */
  readonly #odd: number;

  /**
   * The fraction of the window that remains, by which a sliding window counts the previous one; 0 in a fixed window.
   */
  weight = 0;

  /**
   * The counts that the last `take` reached or would have reached, or that the last `look` read. They are fields, so
   * that no call allocates.
   */
  tokens = 0;
  requests = 0;
  /** The window of these counts: the requested one, or a later one. */
  window = 0;

  constructor(memory: Int32Array, options: { cas?: CompareAndSwap | undefined; sliding?: boolean } = {}) {
    this.memory = memory;
    this.#cas = options.cas;
    this.isSliding = options.sliding ?? false;
    this.#odd = this.isSliding ? ODD : 0;
  }

  /**
   * The fast path of `take`: counts one request in a fixed window if its word is already in this window and both limits
   * allow the request. Returns false without counting anything otherwise; `take` then determines the reason.
   */
  takeOne(slot: number, window: number, tokens: number): boolean {
    const { memory } = this;
    const low = memory[slot] as number;
    const high = memory[slot + TOKENS] as number;
    // The tag of another window makes this number larger than any limit.
    const requests = ((low - (window << 24)) >>> 0) + 1;
    const allTokens = (high >>> 0) + tokens;
    const tokenLimit = (memory[slot + TOKEN_LIMIT] as number) >>> 0;
    if (
      memory[slot + LAST] !== window ||
      requests > (memory[slot + REQUEST_LIMIT] as number) ||
      allTokens > tokenLimit ||
      tokenLimit === 0 ||
      !this.swap(slot, low, high, low + 1, allTokens)
    )
      return false;
    this.requests = requests;
    this.tokens = allTokens;
    return true;
  }

  /** Counts `tokens` and `requests` into this window if both limits of the record allow it. Both are whole numbers. */
  take(slot: number, asked: number, tokens: number, requests: number): number {
    const { memory } = this;
    const stride = this.strideOf(slot);
    const first = this.#groupOf(slot, asked, stride);
    for (let window = first; ; ) {
      const at = this.#wordOf(slot, window, stride);
      const low = memory[at] as number;
      const high = memory[at + TOKENS] as number;
      if (memory[at + LAST] !== window || low >>> 24 !== (window & 0xff)) {
        window = this.#enterWindow(at, window);
        continue;
      }
      // Saturates before comparing, so that the largest possible limit never denies.
      const allRequests = atMost((low & MOST_REQUESTS) + requests, MOST_REQUESTS);
      const allTokens = atMost((high >>> 0) + tokens, MOST_TOKENS);
      this.window = window === first ? asked : window;
      this.requests = allRequests;
      this.tokens = allTokens;
      if (this.weight > 0 && stride === 1) this.#addBefore(slot, window);
      const verdict =
        this.requests > (memory[slot + REQUEST_LIMIT] as number)
          ? NO_REQUESTS
          : this.tokens > (memory[slot + TOKEN_LIMIT] as number) >>> 0
            ? NO_TOKENS
            : TAKEN;
      const newLow = verdict === TAKEN ? (low & ~MOST_REQUESTS) | allRequests : low;
      const newHigh = verdict === TAKEN ? allTokens | 0 : high;
      if (this.swap(at, low, high, newLow, newHigh)) return verdict;
    }
  }

  /** Reads the counts of this window, or of a later one if the word is in it, into the fields. Changes no memory. */
  load(slot: number, asked: number): void {
    const { memory } = this;
    const stride = this.strideOf(slot);
    const window = this.#groupOf(slot, asked, stride);
    const at = this.#wordOf(slot, window, stride);
    const last = Atomics.load(memory, at + LAST);
    let low: number;
    let high: number;
    do {
      low = Atomics.load(memory, at);
      high = Atomics.load(memory, at + TOKENS);
    } while (low !== Atomics.load(memory, at));
    const found = ((last - window) | 0) > 0 ? last : window;
    this.window = found === window ? asked : found;
    const isCurrent = last === found && low >>> 24 === (last & 0xff);
    this.requests = isCurrent ? low & MOST_REQUESTS : 0;
    this.tokens = isCurrent ? high >>> 0 : 0;
  }

  /**
   * Corrects the counts of this window, between 0 and the largest possible count. Does nothing when the word is in
   * another window.
   */
  adjust(slot: number, window: number, tokens: number, requests: number): void {
    const stride = this.strideOf(slot);
    const first = this.#groupOf(slot, window, stride);
    this.#adjust(this.#wordOf(slot, first, stride), first, tokens, requests);
  }

  /**
   * Returns the number of windows over which a record is counted; more than one when it allows less than one request or
   * token per window.
   */
  strideOf(slot: number): number {
    return (this.memory[slot + FLAGS] as number) >>> STRIDE_SHIFT || 1;
  }

  /**
   * Sets the limits and flags of a record. If the record is counted over another number of windows from now on,
   * unexpired counts move into the present group of windows as a whole, so that nothing is granted twice.
   */
  configure(slot: number, settings: Settings, window: number): void {
    const isSame = this.strideOf(slot) === (settings[3] >>> STRIDE_SHIFT || 1);
    if (!isSame) this.load(slot, window);
    const { requests, tokens } = this;
    this.memory.set(settings, slot + REQUEST_LIMIT);
    if (isSame) return;
    this.load(slot, window);
    const [moreRequests, moreTokens] = [requests - this.requests, tokens - this.tokens];
    if (moreRequests === 0 && moreTokens === 0) return;
    // Counts nothing, but prepares the word for this window.
    this.take(slot, window, 0, 0);
    this.adjust(slot, window, moreTokens, moreRequests);
  }

  /**
   * Returns the number under which a record counts a window: the window itself, or with a stride the first window of
   * its group. After a change of the stride the word may be in a later window of the group.
   */
  #groupOf(slot: number, window: number, stride: number): number {
    if (stride === 1) return window;
    const first = firstOf(window, stride);
    const last = this.memory[slot + LAST] as number;
    return firstOf(last, stride) === first ? last : first;
  }

  /** Only records with a stride of 1 can slide, which needs a second word. */
  #wordOf(slot: number, window: number, stride: number): number {
    return stride === 1 ? slot + (window & 1) * this.#odd : slot;
  }

  /**
   * Returns whether no count of this record matters any more in this window; the record may then be given to another
   * id.
   */
  isIdle(slot: number, window: number): boolean {
    const isBefore = (at: number, oldest: number): boolean => ((Atomics.load(this.memory, at + LAST) - oldest) | 0) < 0;
    const stride = this.strideOf(slot);
    if (stride > 1) return isBefore(slot, firstOf(window, stride));
    return this.#odd === 0 ? isBefore(slot, window) : isBefore(slot, window - 1) && isBefore(slot + ODD, window - 1);
  }

  /** Changes a 64-bit word if it still has the expected value. */
  swap(at: number, low: number, high: number, newLow: number, newHigh: number): boolean {
    if (this.#cas !== undefined) return this.#cas(at << 2, low, high, newLow, newHigh) !== 0;
    this.memory[at] = newLow;
    this.memory[at + TOKENS] = newHigh;
    return true;
  }

  /** Adds the weighted counts of the previous window to the fields. */
  #addBefore(slot: number, window: number): void {
    const { memory, weight } = this;
    const before = slot + (~window & 1) * ODD;
    const low = memory[before] as number;
    if (memory[before + LAST] !== ((window - 1) | 0) || low >>> 24 !== ((window - 1) & 0xff)) return;
    this.requests = atMost(this.requests + weigh(low & MOST_REQUESTS, weight), MOST_REQUESTS);
    this.tokens = atMost(this.tokens + weigh((memory[before + TOKENS] as number) >>> 0, weight), MOST_TOKENS);
  }

  /**
   * Prepares the word for this window, unless it is already in a later one; returns the window of the word.
   *
   * LAST is claimed first, so LAST is never behind the word. A thread that finds LAST at the window, but the word
   * elsewhere, may reset the word, because a word returns to a tag only after 256 windows. When the tag matches by
   * chance after 256 windows, the word cannot be distinguished from one that was already reset; therefore only the
   * thread that claimed LAST subtracts the counts that it read before the claim. Other threads may meanwhile add to the
   * word, or be denied because of it, but no count of theirs is lost. A thread that dies in between leaves a word that
   * is too full for one window, never one that is too empty.
   */
  #enterWindow(at: number, window: number): number {
    const { memory } = this;
    for (;;) {
      const low = memory[at] as number;
      const high = memory[at + TOKENS] as number;
      const last = Atomics.load(memory, at + LAST);
      const ahead = (last - window) | 0;
      if (ahead > 0) {
        window = last;
      } else if (ahead < 0) {
        const isClaimed = Atomics.compareExchange(memory, at + LAST, last, window) === last;
        if (isClaimed && low >>> 24 === (window & 0xff))
          this.#adjust(at, window, -(high >>> 0), -(low & MOST_REQUESTS));
      } else if (low >>> 24 === (window & 0xff) || this.swap(at, low, high, window << 24, 0)) {
        return window;
      }
    }
  }

  #adjust(at: number, window: number, tokens: number, requests: number): void {
    const { memory } = this;
    let low: number;
    let high: number;
    let newLow: number;
    let newHigh: number;
    do {
      low = memory[at] as number;
      high = memory[at + TOKENS] as number;
      if (memory[at + LAST] !== window || low >>> 24 !== (window & 0xff)) return;
      newLow = (low & ~MOST_REQUESTS) | Math.max(0, atMost((low & MOST_REQUESTS) + requests, MOST_REQUESTS));
      newHigh = Math.max(0, atMost((high >>> 0) + tokens, MOST_TOKENS)) | 0;
    } while (!this.swap(at, low, high, newLow, newHigh));
  }
}

/** Returns the first window of the group that a record with this stride counts together with `window`. */
export function firstOf(window: number, stride: number): number {
  return window - (((window % stride) + stride) % stride);
}

/** Returns the part of the previous window's count that still applies. */
export function weigh(count: number, weight: number): number {
  return Math.max(0, count * weight - SAME);
}

/** Returns the utilization, 0 to 1. A limit that was lowered may be below the count. */
export function utilization(count: number, limit: number): number {
  return count < limit ? count / limit : 1;
}

function atMost(value: number, most: number): number {
  return value > most ? most : value;
}
