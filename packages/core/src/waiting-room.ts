import type { AfterAbort } from "./abort-listeners.ts";
import type { Clock } from "./clock.ts";
import type { DecidingLimit, EventOrigin, WaitedEvent } from "./diagnostic-events.ts";
import { granted, waited } from "./diagnostics.ts";
import { CapacityExhaustedError } from "./errors.ts";
import { SAME_MS } from "./token-bucket.ts";
import { type Waiter, WaitLine } from "./wait-line.ts";

/** Shortest timer, so that a clock too coarse for the wait cannot make the queue spin. */
const SHORTEST_WAIT_MS = 1e-3;

/** The limiter in front of which calls queue: a bucket or a swarm. The queue itself works the same for both. */
export interface Served {
  inFlight: number;
  /** Exists only while a call waits. */
  room: WaitingRoom | undefined;
  /** For diagnostics: the origin of events, and the limit that denies a request now. */
  readonly origin: EventOrigin;
  limitedBy(now: number): DecidingLimit;
  /** The largest cost that can ever be taken at once. */
  readonly burst: number;
  take(cost: number, now: number): boolean;
  /** The time at which `cost` can be taken; in the past when it has been available since then. */
  readyAt(cost: number, now: number): number;
  /** Time until `cost` can be taken after the costs `ahead` of it in the queue. */
  waitMs(cost: number, now: number, ahead?: number): number;
  /**
   * Called after every change of the queue with the cost of the first waiter (undefined when the queue is empty) and
   * the cost of all waiters. Returns the time at which the queue should be served again; Infinity when the limiter will
   * call `serve` itself.
   */
  lineChanged(next: number | undefined, all: number, now: number): number;
}

/** The queue of one resource and the single timer that it needs. It exists only while a call waits. */
export class WaitingRoom implements AfterAbort {
  readonly #name: string;
  readonly #resource: Served;
  readonly #clock: Clock;
  readonly #line = new WaitLine();
  #wakeAt = Infinity;
  #cancel: (() => void) | undefined;

  constructor(name: string, resource: Served, clock: Clock) {
    this.#name = name;
    this.#resource = resource;
    this.#clock = clock;
  }

  get size(): number {
    return this.#line.size;
  }

  join(waiter: Waiter, priority: number): void {
    this.#line.join(waiter, priority);
    this.serve();
  }

  /**
   * Ends an aborted wait at any position in the queue. Returns false when the wait has already ended. The caller must
   * call `afterAbort` afterwards.
   */
  leave(waiter: Waiter, reason: unknown): boolean {
    if (!this.#line.leave(waiter)) return false;
    this.#end(waiter, "aborted", this.#clock.now(), reason);
    return true;
  }

  /** Serves the waiters behind those that were aborted. */
  afterAbort(): void {
    // An empty room no longer belongs to the resource, which may already have a new one.
    if (this.#resource.room === this) this.serve();
  }

  /** Rejects all waiters, because the resource no longer exists. */
  clear(outcome: "removed" | "closed", error: () => Error): void {
    const now = this.#clock.now();
    for (const waiter of this.#line) this.#turnAway(waiter, outcome, now, error());
    this.#arm(now);
  }

  /** After a change of the limit: rejects the waiters whose cost can never be granted any more. */
  refit(): void {
    const now = this.#clock.now();
    for (const waiter of this.#line) {
      if (waiter.cost > this.#resource.burst)
        this.#turnAway(waiter, "too-large", now, tooLarge(this.#name, waiter.cost, this.#resource.burst));
    }
    this.serve();
  }

  /** Time until `cost` would be granted at the end of this queue. */
  waitMs(cost: number, now: number): number {
    return this.#resource.waitMs(cost, now, this.#line.cost);
  }

  /**
   * Grants the waiters whose tokens are available, ends the waits that have timed out, and sets the timer for the next
   * event.
   */
  serve(): void {
    const now = this.#clock.now();
    for (let head = this.#line.head; head; head = this.#line.head) {
      // A late timer must neither expire a waiter whose tokens arrived before its deadline nor grant tokens that
      // arrived after it.
      const inTime = this.#resource.readyAt(head.cost, now) <= head.deadline + SAME_MS;
      if (inTime && this.#resource.take(head.cost, now)) this.#grant(head, now);
      else if (head.deadline <= now) this.#expire(head, now);
      else break;
    }
    for (let next = this.#line.nextToExpire; next && next.deadline <= now; next = this.#line.nextToExpire)
      this.#expire(next, now);
    this.#arm(now);
  }

  #grant(waiter: Waiter, now: number): void {
    this.#resource.inFlight++;
    this.#line.leave(waiter);
    this.#report(waiter, "granted", now);
    if (granted.hasSubscribers) granted.publish({ ...this.#resource.origin, resource: this.#name, cost: waiter.cost });
    waiter.grant();
  }

  #expire(waiter: Waiter, now: number): void {
    this.#line.leave(waiter);
    const detail = `timed out after ${Math.round(now - waiter.since)} ms waiting for ${waiter.cost} tokens`;
    this.#end(
      waiter,
      "timeout",
      now,
      new CapacityExhaustedError(this.#name, "timeout", detail, this.waitMs(waiter.cost, now)),
    );
  }

  #turnAway(waiter: Waiter, outcome: WaitedEvent["outcome"], now: number, error: Error): void {
    this.#line.leave(waiter);
    this.#end(waiter, outcome, now, error);
  }

  #end(waiter: Waiter, outcome: WaitedEvent["outcome"], now: number, reason: unknown): void {
    this.#report(waiter, outcome, now);
    waiter.refuse(reason);
  }

  #report(waiter: Waiter, outcome: WaitedEvent["outcome"], now: number): void {
    if (!waited.hasSubscribers) return;
    const { cost, since, limitedBy } = waiter;
    const what = { ...this.#resource.origin, resource: this.#name, cost, limitedBy };
    waited.publish({ ...what, wait: waiter, waitedMs: now - since, outcome });
  }

  /** Sets the timer to the next grant or deadline; there is no timer without waiters. */
  #arm(now: number): void {
    const head = this.#line.head;
    if (!head) this.#resource.room = undefined;
    const serveAt = this.#resource.lineChanged(head?.cost, this.#line.cost, now);
    const wakeAt = head ? Math.min(serveAt, this.#line.nextToExpire?.deadline ?? Infinity) : Infinity;
    if (this.#cancel && this.#wakeAt === wakeAt) return;
    this.#cancel?.();
    this.#wakeAt = wakeAt;
    this.#cancel =
      wakeAt < Infinity ? this.#clock.after(Math.max(SHORTEST_WAIT_MS, wakeAt - now), () => this.#wake()) : undefined;
  }

  #wake(): void {
    this.#cancel = undefined;
    this.serve();
  }
}

export function tooLarge(name: string, cost: number, burst: number): CapacityExhaustedError {
  return new CapacityExhaustedError(
    name,
    "too-large",
    `a cost of ${cost} exceeds the ${burst} that can be granted at once`,
  );
}
