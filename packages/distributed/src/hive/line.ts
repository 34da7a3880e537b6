import type { DecidingLimit, Lease } from "@hivepace/core";
import { type InLine, WaitLine } from "@hivepace/core/internal";
import { at } from "../engine/amounts.ts";
import { DIMENSIONS, type Use } from "./amounts-of.ts";
import type { Asked } from "./asked.ts";
import type { Target } from "./target.ts";

/** Someone who waits for one of several endpoints, or for one. One of `grant` and `refuse` is called, once. */
export interface HiveWaiter extends InLine {
  readonly asked: Asked;
  readonly priority: number;
  /** What stood against it when it came. */
  readonly limitedBy: DecidingLimit | undefined;
  /** The candidate that events and errors name, unless another one grants it. */
  readonly home: Target;
  /** In whose lines it stands. */
  readonly targets: Set<Target>;
  /** Removes it from the listener of its signal. */
  readonly stopListening: (() => void) | undefined;
  readonly grant: (lease: Lease) => void;
  readonly refuse: (reason: unknown) => void;
}

/** Those who wait for one key, or for none. */
class KeyLine extends WaitLine<HiveWaiter> {
  /** Its key has nothing left before then. */
  blockedUntil = -Infinity;
  /** What all of them want, in the order of `DIMENSIONS`. */
  readonly wanted = DIMENSIONS.map(() => 0);

  count(waiter: HiveWaiter, sign: 1 | -1): void {
    for (const [i, dimension] of DIMENSIONS.entries())
      this.wanted[i] = at(this.wanted, i) + sign * waiter.asked.use[dimension];
  }
}

/**
 * Who waits for an endpoint. Within a key: first come, first served, but for priorities. Keys take turns, and one that has
 * nothing left does not stop the others.
 */
export class Line {
  /** In the order of their turns. */
  readonly #keys = new Map<string, KeyLine>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  join(waiter: HiveWaiter): void {
    const key = keyOf(waiter);
    let line = this.#keys.get(key);
    if (!line) {
      line = new KeyLine();
      this.#keys.set(key, line);
    }
    line.join(waiter, waiter.priority);
    line.count(waiter, 1);
    this.#size++;
  }

  leave(waiter: HiveWaiter): boolean {
    const key = keyOf(waiter);
    const line = this.#keys.get(key);
    if (!line?.leave(waiter)) return false;
    line.count(waiter, -1);
    this.#size--;
    if (line.size === 0) this.#keys.delete(key);
    return true;
  }

  /** Who is next: the first of each key that is not blocked, in the order of turns. */
  *next(now: number): Generator<HiveWaiter> {
    for (const line of this.#keys.values()) if (line.head && line.blockedUntil <= now) yield line.head;
  }

  /** True when a request of this key would overtake a waiter. A waiter whose key has nothing left stops only its key. */
  isWaiting(key: string | undefined, now: number): boolean {
    return this.#keys.has(key ?? "") || !this.next(now).next().done;
  }

  /** Its key has had its turn. */
  served(waiter: HiveWaiter): void {
    const key = keyOf(waiter);
    const line = this.#keys.get(key);
    if (!line) return;
    this.#keys.delete(key);
    this.#keys.set(key, line);
  }

  /** Its key has nothing left before then. */
  block(waiter: HiveWaiter, until: number): void {
    const line = this.#keys.get(keyOf(waiter));
    if (line) line.blockedUntil = until;
  }

  /** Lets the waiters of one key try again, or those of all keys. */
  unblock(key?: string): void {
    if (key === undefined) for (const line of this.#keys.values()) line.blockedUntil = -Infinity;
    const line = key === undefined ? undefined : this.#keys.get(key);
    if (line) line.blockedUntil = -Infinity;
  }

  /** What all want whose key has something left. */
  wanted(now: number): Use {
    const sum = { requests: 0, tokens: 0, inputTokens: 0, outputTokens: 0 };
    for (const line of this.#keys.values())
      if (line.blockedUntil <= now) for (const [i, name] of DIMENSIONS.entries()) sum[name] += at(line.wanted, i);
    return sum;
  }

  /** Whose time is over. */
  overdue(now: number): HiveWaiter | undefined {
    for (const { nextToExpire } of this.#keys.values())
      if (nextToExpire && nextToExpire.deadline <= now) return nextToExpire;
    return undefined;
  }

  /** When something happens here by itself: a time is over, or a key has something again. */
  nextAt(now: number): number {
    let next = Infinity;
    for (const { nextToExpire, blockedUntil } of this.#keys.values()) {
      next = Math.min(next, nextToExpire?.deadline ?? Infinity);
      if (blockedUntil > now) next = Math.min(next, blockedUntil);
    }
    return next;
  }

  *[Symbol.iterator](): Generator<HiveWaiter> {
    for (const line of this.#keys.values()) yield* line;
  }
}

/** No key of a program is empty. */
function keyOf({ asked }: HiveWaiter): string {
  return asked.key ?? "";
}
