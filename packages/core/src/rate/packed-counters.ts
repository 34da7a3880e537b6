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

/** What `take` says. */
export const TAKEN = 0;
export const NO_REQUESTS = 1;
export const NO_TOKENS = 2;

/** Estimates that differ by less are the same: it takes up what floating point loses in the weight of a window. */
const SAME = 1e-6;

/**
 * Requests and tokens of many ids, each counted in one 64-bit word that is only ever changed by compare-and-swap:
 *
 *      63                            32 31        24 23                     0
 *     ┌────────────────────────────────┬────────────┬────────────────────────┐
 *     │ tokens                         │ tag        │ requests               │
 *     └────────────────────────────────┴────────────┴────────────────────────┘
 *                                        window mod 256
 *
 * The tag is in the word, so a count and its window change in one step. With the window in another word two threads
 * could both find the new window, and the slower one would count into a word that the faster has just reset.
 *
 * Beside the word stands LAST, the whole number of the window for which the word was last made ready; it only grows and
 * is claimed before the word is reset. It tells a word of 256 windows ago from a current one, and a thread whose clock
 * is a little behind that others are further: it then counts into their window, it never turns the word back.
 *
 * Several threads pass the compare-and-swap of their shared memory. Without one, plain stores do.
 * The halves of a word are read one after the other; a pair that never was does not survive the compare-and-swap, and
 * therefore a refusal is confirmed by one as well (of the word by itself).
 */
export class PackedCounters {
  memory: Int32Array;
  readonly isSliding: boolean;
  readonly #cas: CompareAndSwap | undefined;
  /** How far the counter of odd windows is from that of even ones; 0 in fixed windows, which have only one. */
  readonly #odd: number;

  /** The part of the window that remains, by which a sliding window counts the window before; 0 in a fixed one. */
  weight = 0;

  /** What the last `take` came to, or would have; what the last `look` saw. In fields, so that nothing is allocated. */
  tokens = 0;
  requests = 0;
  /** The window that it was counted in: the one asked for, or a later one. */
  window = 0;

  constructor(memory: Int32Array, options: { cas?: CompareAndSwap | undefined; sliding?: boolean } = {}) {
    this.memory = memory;
    this.#cas = options.cas;
    this.isSliding = options.sliding ?? false;
    this.#odd = this.isSliding ? ODD : 0;
  }

  /**
   * Counts one request with so many tokens, if that is as simple as it almost always is: in fixed windows, into a word
   * that is in this one and has room for it. False: nothing was counted, `take` will know why.
   */
  takeOne(slot: number, window: number, tokens: number): boolean {
    const { memory } = this;
    const low = memory[slot] as number;
    const high = memory[slot + TOKENS] as number;
    // The tag of another window makes this more than any limit.
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

  /**
   * Counts so many tokens and requests into this window if both limits of the record allow it. Both are whole numbers.
   */
  take(slot: number, asked: number, tokens: number, requests: number): number {
    const { memory } = this;
    const stride = this.strideOf(slot);
    const first = this.#groupOf(slot, asked, stride);
    for (let window = first; ; ) {
      const at = this.#wordOf(slot, window, stride);
      const low = memory[at] as number;
      const high = memory[at + TOKENS] as number;
      if (memory[at + LAST] !== window || low >>> 24 !== (window & 0xff)) {
        window = this.#turn(at, window);
        continue;
      }
      // First saturate, then compare: a limit of the most that can be counted is then none by itself.
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

  /** What is counted in this window (or a later one, if the word is in it) into the fields; changes nothing. */
  look(slot: number, asked: number): void {
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

  /** Corrects what was counted in this window, within 0 and the most that can be counted. In another window: nothing. */
  adjust(slot: number, window: number, tokens: number, requests: number): void {
    const stride = this.strideOf(slot);
    const first = this.#groupOf(slot, window, stride);
    this.#adjust(this.#wordOf(slot, first, stride), first, tokens, requests);
  }

  /** Over how many windows a record is counted: more than one when it allows less than one in a window. */
  strideOf(slot: number): number {
    return (this.memory[slot + FLAGS] as number) >>> STRIDE_SHIFT || 1;
  }

  /**
   * Sets the limits and flags of a record. A record that is counted over another number of windows from now on keeps the
   * counts that are not over: as a whole, and from now on, so that nothing is granted twice.
   */
  configure(slot: number, settings: Settings, window: number): void {
    const isSame = this.strideOf(slot) === (settings[3] >>> STRIDE_SHIFT || 1);
    if (!isSame) this.look(slot, window);
    const { requests, tokens } = this;
    this.memory.set(settings, slot + REQUEST_LIMIT);
    if (isSame) return;
    this.look(slot, window);
    const [moreRequests, moreTokens] = [requests - this.requests, tokens - this.tokens];
    if (moreRequests === 0 && moreTokens === 0) return;
    // Takes nothing, and makes the word ready for this window.
    this.take(slot, window, 0, 0);
    this.adjust(slot, window, moreTokens, moreRequests);
  }

  /**
   * The number under which a record counts a window: its own, or with a stride the first of the windows that are counted
   * together. After a change of the stride the word may be in a later one of these.
   */
  #groupOf(slot: number, window: number, stride: number): number {
    if (stride === 1) return window;
    const first = firstOf(window, stride);
    const last = this.memory[slot + LAST] as number;
    return firstOf(last, stride) === first ? last : first;
  }

  /** Only records that are counted window by window slide, and need a second word for that. */
  #wordOf(slot: number, window: number, stride: number): number {
    return stride === 1 ? slot + (window & 1) * this.#odd : slot;
  }

  /** Whether nothing counts here any more in this window; then the record may be given to another id. */
  isIdle(slot: number, window: number): boolean {
    const isBefore = (at: number, oldest: number): boolean => ((Atomics.load(this.memory, at + LAST) - oldest) | 0) < 0;
    const stride = this.strideOf(slot);
    if (stride > 1) return isBefore(slot, firstOf(window, stride));
    return this.#odd === 0 ? isBefore(slot, window) : isBefore(slot, window - 1) && isBefore(slot + ODD, window - 1);
  }

  /** Changes a 64-bit word if it still is what it was. */
  swap(at: number, low: number, high: number, newLow: number, newHigh: number): boolean {
    if (this.#cas !== undefined) return this.#cas(at << 2, low, high, newLow, newHigh) !== 0;
    this.memory[at] = newLow;
    this.memory[at + TOKENS] = newHigh;
    return true;
  }

  /** Adds to the fields what the window before still counts. */
  #addBefore(slot: number, window: number): void {
    const { memory, weight } = this;
    const before = slot + (~window & 1) * ODD;
    const low = memory[before] as number;
    if (memory[before + LAST] !== ((window - 1) | 0) || low >>> 24 !== ((window - 1) & 0xff)) return;
    this.requests = atMost(this.requests + weigh(low & MOST_REQUESTS, weight), MOST_REQUESTS);
    this.tokens = atMost(this.tokens + weigh((memory[before + TOKENS] as number) >>> 0, weight), MOST_TOKENS);
  }

  /**
   * Makes the word ready for this window, or finds that it is in a later one; returns which.
   *
   * LAST is claimed first, so it is never behind the word. Whoever finds LAST at the window and the word not may reset
   * it: a word never comes back to a tag that it has left, until 256 windows later. There, when the tag is right by
   * chance, the word cannot be told from one that was already reset; so only the one thread that claimed LAST takes away
   * what it saw before the claim. Others may meanwhile add to it, and be refused because of it, but nothing that they
   * add is lost. A thread that dies in between leaves a word that is too full for one window, never one too empty.
   */
  #turn(at: number, window: number): number {
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

/** The first of the windows that a record with this stride counts together with `window`. */
export function firstOf(window: number, stride: number): number {
  return window - (((window % stride) + stride) % stride);
}

/** What the window before still counts. */
export function weigh(count: number, weight: number): number {
  return Math.max(0, count * weight - SAME);
}

/** 0..1. A limit that was lowered in the meantime may be less than what was counted. */
export function utilization(count: number, limit: number): number {
  return count < limit ? count / limit : 1;
}

function atMost(value: number, most: number): number {
  return value > most ? most : value;
}
