import type { DecidingLimit, Lease } from "@hivepace/core";
import { type InLine, WaitLine } from "@hivepace/core/internal";
import { at } from "../engine/index.ts";
import { DIMENSIONS, type Use } from "./amounts-of.ts";
import type { Asked } from "./asked.ts";
import type { Scope } from "./scope.ts";
import type { Target } from "./target.ts";

/** A request that waits for one or several endpoints. Exactly one of `grant` and `refuse` is called, once. */
export interface HiveWaiter extends InLine {
  readonly asked: Asked;
  readonly priority: number;
  /** The limit that denied the request on arrival. */
  readonly limitedBy: DecidingLimit | undefined;
  /** The candidate that events and errors name, unless another candidate grants the request. */
  readonly home: Target;
  /** The targets in whose lines the request waits. */
  readonly targets: Set<Target>;
  /** The scopes that have denied the request and claim their quotas for it. */
  readonly scopes: Set<Scope>;
  /** Stops listening to the request's abort signal. */
  readonly stopListening: (() => void) | undefined;
  readonly grant: (lease: Lease) => void;
  readonly refuse: (reason: unknown) => void;
}

/** Waiters with the same scopes. */
class Group extends WaitLine<HiveWaiter> {
  /** At least one of the scopes has no capacity before this time. */
  blockedUntil = -Infinity;
  blockedBy: readonly Scope[] = [];
  /** Total demand of the group, in the order of `DIMENSIONS`. */
  readonly wanted = DIMENSIONS.map(() => 0);

  count(waiter: HiveWaiter, sign: 1 | -1): void {
    for (const [i, dimension] of DIMENSIONS.entries())
      this.wanted[i] = at(this.wanted, i) + sign * waiter.asked.use[dimension];
  }
}

/**
 * The waiters of an endpoint, grouped by their scopes. A group serves its waiters by priority and arrival. Groups take
 * turns, and a group whose scopes have no capacity does not block the others.
 */
export class Line {
  /** The groups in the order of their turns. */
  readonly #groups = new Map<string, Group>();
  readonly #groupOf = new Map<HiveWaiter, string>();

  get size(): number {
    return this.#groupOf.size;
  }

  join(waiter: HiveWaiter, name: string): void {
    let group = this.#groups.get(name);
    if (!group) {
      group = new Group();
      this.#groups.set(name, group);
    }
    group.join(waiter, waiter.priority);
    group.count(waiter, 1);
    this.#groupOf.set(waiter, name);
  }

  leave(waiter: HiveWaiter): boolean {
    const group = this.#of(waiter);
    if (!group?.leave(waiter)) return false;
    group.count(waiter, -1);
    if (group.size === 0) this.#groups.delete(this.#groupOf.get(waiter) as string);
    this.#groupOf.delete(waiter);
    return true;
  }

  /** Groups all waiters again, because some have other scopes now. */
  regroup(nameOf: (waiter: HiveWaiter) => string): void {
    for (const [waiter, name] of [...this.#groupOf]) {
      const now = nameOf(waiter);
      if (now === name) continue;
      this.leave(waiter);
      this.join(waiter, now);
    }
  }

  /** The head of each group that is not blocked, in the order of turns. */
  *next(now: number): Generator<HiveWaiter> {
    for (const group of this.#groups.values()) if (group.head && group.blockedUntil <= now) yield group.head;
  }

  /**
   * True when a request of this group would overtake a waiter. A waiter whose scopes have no capacity blocks only its
   * group.
   */
  isWaiting(name: string, now: number): boolean {
    return this.#groups.has(name) || !this.next(now).next().done;
  }

  /** Moves the waiter's group behind the other groups after its turn. */
  served(waiter: HiveWaiter): void {
    const name = this.#groupOf.get(waiter);
    const group = name === undefined ? undefined : this.#groups.get(name);
    if (name === undefined || !group) return;
    this.#groups.delete(name);
    this.#groups.set(name, group);
  }

  /** Blocks the waiter's group, because these scopes have no capacity before `until`. */
  block(waiter: HiveWaiter, until: number, scopes: readonly Scope[]): void {
    const group = this.#of(waiter);
    if (!group) return;
    group.blockedUntil = until;
    group.blockedBy = scopes;
  }

  /** Unblocks the groups that this scope has blocked; without a scope, all groups. */
  unblock(scope?: Scope): void {
    for (const group of this.#groups.values())
      if (scope === undefined || group.blockedBy.includes(scope)) group.blockedUntil = -Infinity;
  }

  /** The demand of all groups that are not blocked. */
  wanted(now: number): Use {
    const sum = { requests: 0, tokens: 0, inputTokens: 0, outputTokens: 0 };
    for (const group of this.#groups.values())
      if (group.blockedUntil <= now) for (const [i, name] of DIMENSIONS.entries()) sum[name] += at(group.wanted, i);
    return sum;
  }

  /** Returns a waiter whose timeout has passed. */
  overdue(now: number): HiveWaiter | undefined {
    for (const { nextToExpire } of this.#groups.values())
      if (nextToExpire && nextToExpire.deadline <= now) return nextToExpire;
    return undefined;
  }

  /** The next time at which a timeout passes or a blocked group may have capacity. */
  nextAt(now: number): number {
    let next = Infinity;
    for (const { nextToExpire, blockedUntil } of this.#groups.values()) {
      next = Math.min(next, nextToExpire?.deadline ?? Infinity);
      if (blockedUntil > now) next = Math.min(next, blockedUntil);
    }
    return next;
  }

  *[Symbol.iterator](): Generator<HiveWaiter> {
    for (const group of this.#groups.values()) yield* group;
  }

  #of(waiter: HiveWaiter): Group | undefined {
    const name = this.#groupOf.get(waiter);
    return name === undefined ? undefined : this.#groups.get(name);
  }
}
