import type { DecidingLimit } from "./diagnostic-events.ts";
import { Heap, type HeapEntry } from "./heap.ts";

/** Waiting time that one point of priority is worth. */
const PRIORITY_STEP_MS = 1_000;

/** The properties of a waiter that the queue reads. */
export interface InLine {
  readonly cost: number;
  readonly since: number;
  /** The deadline on the clock of `since`; Infinity for none. */
  readonly deadline: number;
}

/** A waiting call. Exactly one of `grant` and `refuse` is called, once. */
export interface Waiter extends InLine {
  /** The limit that the call was waiting for when it arrived. */
  readonly limitedBy: DecidingLimit;
  readonly grant: () => void;
  readonly refuse: (reason: unknown) => void;
}

interface Place<W> {
  readonly waiter: W;
  /**
   * The arrival time that determines the order: the actual arrival shifted by the priority, so that waiting raises
   * every priority alike.
   */
  readonly rank: number;
  readonly order: number;
}

/** A waiter's positions in the queue and among the deadlines. */
interface Ticket<W> {
  readonly place: HeapEntry<Place<W>>;
  readonly deadline: HeapEntry<W> | undefined;
}

/**
 * The queue of one resource, in order of arrival shifted by priority. A waiter of priority p is placed as if it had
 * arrived p seconds earlier, so a high priority goes first and a low one is never starved.
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

  /** The total cost of all waiters. */
  get cost(): number {
    return this.#cost;
  }

  get head(): W | undefined {
    return this.#line.first()?.waiter;
  }

  /** The waiter with the earliest deadline. */
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

  /** Removes a waiter at any position. Returns false when it is no longer in the queue. */
  leave(waiter: W): boolean {
    const ticket = this.#tickets.get(waiter);
    if (!ticket) return false;
    this.#tickets.delete(waiter);
    this.#line.remove(ticket.place);
    if (ticket.deadline) this.#deadlines.remove(ticket.deadline);
    // Reset to 0 whenever the queue is empty, so that rounding errors of fractional costs cannot accumulate.
    this.#cost = this.size === 0 ? 0 : this.#cost - waiter.cost;
    return true;
  }

  [Symbol.iterator](): IterableIterator<W> {
    return this.#tickets.keys();
  }
}
