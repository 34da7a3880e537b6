import type { DecidingLimit, Lease } from "@hivepace/core";
import { Heap, type HeapEntry, type InLine, WaitLine } from "@hivepace/core/internal";
import { DIMENSIONS, type Use } from "./amounts-of.ts";
import type { Asked } from "./asked.ts";
import type { HiveDimension } from "./hive-types.ts";
import type { Scope } from "./scope.ts";
import type { Target } from "./target.ts";

/** A request that waits for one or several endpoints. Exactly one of `grant` and `refuse` is called, once. */
export interface HiveWaiter extends InLine {
  /** The request; its estimate may be revised. */
  asked: Asked;
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
  /** Stops listening to revisions of the request's estimate. */
  stopRevising: (() => void) | undefined;
  readonly grant: (lease: Lease) => void;
  readonly refuse: (reason: unknown) => void;
}

/** Waiters with the same scopes. */
class Group extends WaitLine<HiveWaiter> {
  readonly name: string;
  /** Place among the groups: the lowest is served next. */
  turn: number;
  /** At least one of the scopes has no capacity before this time. */
  blockedUntil = -Infinity;
  blockedBy: readonly Scope[] = [];
  /** Total demand of the group. */
  readonly wanted: Amounts = newAmounts();
  /** The group's place in one of the two heaps of its line. */
  entry: HeapEntry<Group> | undefined;

  constructor(name: string, turn: number) {
    super();
    this.name = name;
    this.turn = turn;
  }
}

type Amounts = Record<HiveDimension, number>;

const newAmounts = (): Amounts => ({ requests: 0, tokens: 0, inputTokens: 0, outputTokens: 0 });

/** A waiter's group, and its place among the deadlines. */
interface Place {
  readonly group: Group;
  readonly deadline: HeapEntry<HiveWaiter> | undefined;
}

/**
 * The waiters of an endpoint, grouped by their scopes. A group serves its waiters by priority and arrival. Groups take
 * turns, and a group whose scopes have no capacity does not block the others. No method visits all groups or all waiters
 * unless it changes all of them.
 */
export class Line {
  readonly #groups = new Map<string, Group>();
  readonly #places = new Map<HiveWaiter, Place>();
  readonly #open = new Heap<Group>((a, b) => a.turn < b.turn);
  readonly #blocked = new Heap<Group>((a, b) => a.blockedUntil < b.blockedUntil);
  /** The groups that each scope has blocked. */
  readonly #blockedBy = new Map<Scope, Set<Group>>();
  readonly #deadlines = new Heap<HiveWaiter>((a, b) => a.deadline < b.deadline);
  /** Total demand of the open groups. */
  readonly #wanted = newAmounts();
  #turns = 0;
  /** Number of times that the claims of the waiters were updated. */
  claims = 0;

  get size(): number {
    return this.#places.size;
  }

  join(waiter: HiveWaiter, name: string): void {
    let group = this.#groups.get(name);
    if (!group) {
      group = new Group(name, this.#turns++);
      this.#groups.set(name, group);
      group.entry = this.#open.push(group);
    }
    group.join(waiter, waiter.priority);
    this.#count(group, waiter.asked.use, 1);
    const deadline = waiter.deadline < Infinity ? this.#deadlines.push(waiter) : undefined;
    this.#places.set(waiter, { group, deadline });
  }

  leave(waiter: HiveWaiter): boolean {
    const place = this.#places.get(waiter);
    if (!place) return false;
    const { group, deadline } = place;
    group.leave(waiter);
    this.#places.delete(waiter);
    if (deadline) this.#deadlines.remove(deadline);
    this.#count(group, waiter.asked.use, -1);
    if (group.size > 0) return true;
    this.#groups.delete(group.name);
    this.#takeOut(group);
    return true;
  }

  /** Adds `change` to the estimate of a waiter, which keeps its place. Its group is open again. */
  revise(waiter: HiveWaiter, change: Use): void {
    const group = this.#places.get(waiter)?.group;
    if (!group) return;
    this.#count(group, change, 1);
    if (group.blockedUntil > -Infinity) this.#unblock(group);
  }

  /** Groups all waiters again, because some have other scopes now. */
  regroup(nameOf: (waiter: HiveWaiter) => string): void {
    for (const [waiter, { group }] of [...this.#places]) {
      const name = nameOf(waiter);
      if (name === group.name) continue;
      this.leave(waiter);
      this.join(waiter, name);
    }
  }

  /** The head of the group whose turn it is, among the groups that are not blocked. */
  next(now: number): HiveWaiter | undefined {
    this.#openDue(now);
    return this.#open.first()?.head;
  }

  /**
   * True when a request of this group would overtake a waiter. A waiter whose scopes have no capacity blocks only its
   * group.
   */
  isWaiting(name: string, now: number): boolean {
    return this.#groups.has(name) || this.next(now) !== undefined;
  }

  /** Moves the waiter's group behind the other groups after its turn. */
  served(waiter: HiveWaiter): void {
    const group = this.#places.get(waiter)?.group;
    if (!group) return;
    const isOpen = group.blockedUntil === -Infinity;
    if (isOpen) this.#takeOut(group);
    group.turn = this.#turns++;
    if (isOpen) this.#putIn(group);
  }

  /** Blocks the waiter's group, because these scopes have no capacity before `until`. */
  block(waiter: HiveWaiter, until: number, scopes: readonly Scope[]): void {
    const group = this.#places.get(waiter)?.group;
    if (!group) return;
    this.#takeOut(group);
    group.blockedUntil = until;
    group.blockedBy = scopes;
    for (const scope of scopes) {
      const blocked = this.#blockedBy.get(scope) ?? new Set();
      this.#blockedBy.set(scope, blocked.add(group));
    }
    group.entry = this.#blocked.push(group);
  }

  /** Unblocks the groups that this scope has blocked; without a scope, all groups. */
  unblock(scope?: Scope): void {
    if (scope) for (const group of [...(this.#blockedBy.get(scope) ?? [])]) this.#unblock(group);
    else for (let group = this.#blocked.first(); group; group = this.#blocked.first()) this.#unblock(group);
  }

  /** The demand of all groups that are not blocked. */
  wanted(now: number): Use {
    this.#openDue(now);
    return { ...this.#wanted };
  }

  /** Returns a waiter whose timeout has passed. */
  overdue(now: number): HiveWaiter | undefined {
    const first = this.#deadlines.first();
    return first && first.deadline <= now ? first : undefined;
  }

  /** The next time at which a timeout passes or a blocked group may have capacity. */
  nextAt(now: number): number {
    this.#openDue(now);
    return Math.min(this.#deadlines.first()?.deadline ?? Infinity, this.#blocked.first()?.blockedUntil ?? Infinity);
  }

  [Symbol.iterator](): IterableIterator<HiveWaiter> {
    return this.#places.keys();
  }

  #openDue(now: number): void {
    for (let group = this.#blocked.first(); group && group.blockedUntil <= now; group = this.#blocked.first())
      this.#unblock(group);
  }

  #unblock(group: Group): void {
    this.#takeOut(group);
    this.#putIn(group);
  }

  /** Adds a group to the open ones. */
  #putIn(group: Group): void {
    group.entry = this.#open.push(group);
    for (const name of DIMENSIONS) this.#wanted[name] += group.wanted[name];
  }

  /** Removes a group from its heap. */
  #takeOut(group: Group): void {
    const { entry } = group;
    if (!entry) return;
    group.entry = undefined;
    if (group.blockedUntil === -Infinity) {
      this.#open.remove(entry);
      // Reset to 0 whenever no group is open, so that rounding errors of fractional amounts cannot accumulate.
      for (const name of DIMENSIONS)
        this.#wanted[name] = this.#open.size === 0 ? 0 : this.#wanted[name] - group.wanted[name];
      return;
    }
    this.#blocked.remove(entry);
    for (const scope of group.blockedBy) {
      const blocked = this.#blockedBy.get(scope);
      if (blocked?.delete(group) && blocked.size === 0) this.#blockedBy.delete(scope);
    }
    group.blockedUntil = -Infinity;
    group.blockedBy = [];
  }

  #count({ wanted, blockedUntil, size }: Group, use: Use, sign: 1 | -1): void {
    for (const name of DIMENSIONS) {
      const before = wanted[name];
      wanted[name] = size === 0 ? 0 : before + sign * use[name];
      if (blockedUntil === -Infinity) this.#wanted[name] += wanted[name] - before;
    }
  }
}
