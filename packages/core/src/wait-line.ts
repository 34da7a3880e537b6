import type { DecidingLimit } from "./diagnostic-events.ts";
import { Heap, type HeapEntry } from "./heap.ts";

/** One point of priority is worth so much waiting. */
const PRIORITY_STEP_MS = 1_000;

/** What a line has to know of someone in it. */
export interface InLine {
  readonly cost: number;
  readonly since: number;
  /** On the clock of `since`; Infinity for no deadline. */
  readonly deadline: number;
}

/** Someone who waits. One of `grant` and `refuse` is called, once. */
export interface Waiter extends InLine {
  /** What stood against it when it came. */
  readonly limitedBy: DecidingLimit;
  readonly grant: () => void;
  readonly refuse: (reason: unknown) => void;
}

interface Place<W> {
  readonly waiter: W;
  /** As if it had come at this time: the whole of the order, so that priorities age by themselves. */
  readonly rank: number;
  readonly order: number;
}

/** Where a waiter stands in both orders. */
interface Ticket<W> {
  readonly place: HeapEntry<Place<W>>;
  readonly deadline: HeapEntry<W> | undefined;
}

/**
 * The line before one resource: first come, first served, but for priorities. A waiter of priority p stands as if it
 * had come p seconds earlier; so a high priority goes first, and a low one is never passed for ever.
 */
export class WaitLine<W extends InLine = Waiter> {
  readonly #line = new Heap<Place<W>>((a, b) => a.rank < b.rank || (a.rank === b.rank && a.order < b.order));
  readonly #deadlines = new Heap<W>((a, b) => a.deadline < b.deadline);
  readonly #tickets = new Map<W, Ticket<W>>();
  #order = 0;
  #cost = 0;

  get size(): number {
    return this.#tickets.size;
  }

  /** The cost of all who wait. */
  get cost(): number {
    return this.#cost;
  }

  get head(): W | undefined {
    return this.#line.first()?.waiter;
  }

  /** Whose deadline comes first. */
  get nextToExpire(): W | undefined {
    return this.#deadlines.first();
  }

  join(waiter: W, priority: number): void {
    const rank = waiter.since - priority * PRIORITY_STEP_MS;
    this.#tickets.set(waiter, {
      place: this.#line.push({ waiter, rank, order: this.#order++ }),
      deadline: waiter.deadline < Infinity ? this.#deadlines.push(waiter) : undefined,
    });
    this.#cost += waiter.cost;
  }

  /** Takes a waiter out, wherever it stands. False when it is not in the line any more. */
  leave(waiter: W): boolean {
    const ticket = this.#tickets.get(waiter);
    if (!ticket) return false;
    this.#tickets.delete(waiter);
    this.#line.remove(ticket.place);
    if (ticket.deadline) this.#deadlines.remove(ticket.deadline);
    // Recounted from nothing whenever the line is empty, so that fractions of costs cannot add up to an error.
    this.#cost = this.size === 0 ? 0 : this.#cost - waiter.cost;
    return true;
  }

  [Symbol.iterator](): IterableIterator<W> {
    return this.#tickets.keys();
  }
}
