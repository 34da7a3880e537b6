import type { Limit } from "./program.ts";

/** A limit with all defaults filled in. */
export interface WholeLimit {
  readonly capacity: number;
  readonly windowMs: number;
  readonly burst: number;
}

/** A waiting call, as the model sees it. */
export interface Waiter {
  readonly cost: number;
  /** The arrival time that a call of priority 0 with the same place in the queue would have. */
  readonly rank: number;
  readonly order: number;
  readonly deadline: number;
}

type Change = { readonly at: number } & (
  | { readonly taken: number }
  | { readonly given: number }
  | { readonly limit: WholeLimit }
);

/**
 * The reference model of one resource, in tokens and milliseconds: keeps the list of all changes, and replays it from
 * the beginning for each query. The limiter keeps a single number instead.
 */
export class BucketModel {
  readonly #changes: Change[] = [];
  readonly waiting = new Set<Waiter>();
  limit: WholeLimit;
  inFlight = 0;

  constructor(limit: Limit, now: number) {
    this.limit = whole(limit);
    this.#changes.push({ at: now, limit: this.limit });
  }

  resize(limit: Limit, now: number): void {
    this.limit = whole(limit);
    this.#changes.push({ at: now, limit: this.limit });
  }

  take(cost: number, now: number): void {
    this.#changes.push({ at: now, taken: cost });
    this.inFlight++;
  }

  /** Ends a call that was never sent. */
  release(cost: number, now: number): void {
    if (this.inFlight === 0) return;
    this.inFlight--;
    this.#changes.push({ at: now, given: cost });
  }

  finish(): void {
    if (this.inFlight > 0) this.inFlight--;
  }

  /** The tokens in the bucket; negative after the limit was set below the spent amount. */
  tokens(now: number): number {
    let limit = this.limit;
    let tokens = 0;
    let at = 0;
    for (const [i, change] of [...this.#changes, { at: now, taken: 0 }].entries()) {
      if (i > 0) tokens = Math.min(limit.burst, tokens + ((change.at - at) * limit.capacity) / limit.windowMs);
      at = change.at;
      if ("taken" in change) tokens -= change.taken;
      else if ("given" in change) tokens = Math.min(limit.burst, tokens + change.given);
      else {
        // A change of the limit keeps the spent amount.
        tokens = i === 0 ? change.limit.burst : tokens + change.limit.burst - limit.burst;
        limit = change.limit;
      }
    }
    return tokens;
  }

  /** Time until the bucket holds this many tokens, in milliseconds. */
  waitMs(tokens: number, now: number): number {
    const { capacity, windowMs } = this.limit;
    return Math.max(0, ((tokens - this.tokens(now)) * windowMs) / capacity);
  }

  /** The waiter that must be granted next. */
  get head(): Waiter | undefined {
    let head: Waiter | undefined;
    for (const each of this.waiting) if (!head || isBefore(each, head)) head = each;
    return head;
  }

  get waitingCost(): number {
    return [...this.waiting].reduce((sum, { cost }) => sum + cost, 0);
  }
}

export function isBefore(a: Waiter, b: Waiter): boolean {
  return a.rank < b.rank || (a.rank === b.rank && a.order < b.order);
}

function whole({ capacity, windowMs, burst }: Limit): WholeLimit {
  return { capacity, windowMs, burst: burst ?? Math.max(1, capacity) };
}
