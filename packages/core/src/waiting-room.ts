import type { AfterAbort } from "./abort-listeners.ts";
import type { Clock } from "./clock.ts";
import type { DecidingLimit, EventOrigin, WaitedEvent } from "./diagnostic-events.ts";
import { granted, waited } from "./diagnostics.ts";
import { CapacityExhaustedError } from "./errors.ts";
import { SAME_MS } from "./token-bucket.ts";
import { type Waiter, WaitLine } from "./wait-line.ts";

/** No re-check comes sooner, so that a clock too coarse for the wait cannot make it spin. */
const SHORTEST_WAIT_MS = 1e-3;

/** What a line stands before. Whoever decides, a bucket or a swarm, the line is the same. */
export interface Served {
  inFlight: number;
  /** There only while somebody waits. */
  room: WaitingRoom | undefined;
  /** For diagnostics: who says it, and which limit stands against a request now. */
  readonly origin: EventOrigin;
  limitedBy(now: number): DecidingLimit;
  /** The most that can ever be taken at once. */
  readonly burst: number;
  take(cost: number, now: number): boolean;
  /** When `cost` could be taken; in the past when it could have been since. */
  readyAt(cost: number, now: number): number;
  /** How long until `cost` could be taken after all that is `ahead` of it in the line. */
  waitMs(cost: number, now: number, ahead?: number): number;
  /**
   * Told after every change of the line: what its head costs (undefined when nobody is left), and all of it. Says when the
   * line should be served again; Infinity when it will call `serve` itself.
   */
  lineChanged(next: number | undefined, all: number, now: number): number;
}

/** Those who wait for one resource, and the one timer that they need. It exists only while there are any. */
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

  /** Ends an aborted wait, wherever it stands in the line. False when it has ended before. `afterAbort` has to follow. */
  leave(waiter: Waiter, reason: unknown): boolean {
    if (!this.#line.leave(waiter)) return false;
    this.#end(waiter, "aborted", this.#clock.now(), reason);
    return true;
  }

  /** Those behind the waiters that have left move up. */
  afterAbort(): void {
    // A room that has become empty is no longer the resource's: another one may stand in its place.
    if (this.#resource.room === this) this.serve();
  }

  /** Sends everyone away: the resource is gone. */
  clear(outcome: "removed" | "closed", error: () => Error): void {
    const now = this.#clock.now();
    for (const waiter of this.#line) this.#turnAway(waiter, outcome, now, error());
    this.#arm(now);
  }

  /** After the limit changed: sends away who can never be served now. */
  refit(): void {
    const now = this.#clock.now();
    for (const waiter of this.#line) {
      if (waiter.cost > this.#resource.burst)
        this.#turnAway(waiter, "too-large", now, tooLarge(this.#name, waiter.cost, this.#resource.burst));
    }
    this.serve();
  }

  /** How long until `cost` would be granted at the end of this line. */
  waitMs(cost: number, now: number): number {
    return this.#resource.waitMs(cost, now, this.#line.cost);
  }

  /** Grants to all whose turn has come, ends the waits that are over, and sets the timer for what comes next. */
  serve(): void {
    const now = this.#clock.now();
    for (let head = this.#line.head; head; head = this.#line.head) {
      // A timer that comes late must not cost anyone a token that was there in time, nor grant one that was not.
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
    const detail = `waited ${Math.round(now - waiter.since)} ms for ${waiter.cost}`;
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

  /** Keeps the timer at the next time at which something happens; none when nobody waits. */
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
  return new CapacityExhaustedError(name, "too-large", `it holds at most ${burst} at once and can never give ${cost}`);
}
