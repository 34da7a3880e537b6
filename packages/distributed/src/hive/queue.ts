import {
  type AbortSignalLike,
  CapacityExhaustedError,
  type Clock,
  ClosedError,
  type EventOrigin,
  type Lease,
  type OfResource,
  type RateDecision,
  ResourceUnknownError,
} from "@hivepace/core";
import { denied, waited, waiting } from "@hivepace/core/internal";
import type { Asked } from "./asked.ts";
import { type HiveWaiter, Line } from "./line.ts";
import { namesake, type Target } from "./target.ts";

/** A key that was denied without a time is looked at again after this. */
const LOOK_AGAIN_MS = 1_000;

export interface Patience {
  readonly signal: AbortSignalLike | undefined;
  readonly timeoutMs: number;
  readonly priority: number;
}

export interface QueueOptions {
  readonly clock: Clock;
  readonly maxQueue: number;
  /** How often those who would go to other endpoints, too, look whether one has room. */
  readonly rerouteMs: number;
  /** Grants if there is room. Says what stands against it. */
  readonly attempt: (waiter: HiveWaiter, target: Target, now: number) => RateDecision | undefined;
  readonly find: (endpoint: string, model: string | undefined) => Target | undefined;
  /** Who says what is said of it. */
  readonly origin: EventOrigin;
  /** Whether anybody waits at all: then the process must stay alive. */
  readonly onWaiting: (isWaiting: boolean) => void;
}

/** All who wait, each before one endpoint. One timer for each endpoint that somebody waits for. */
export class Queue {
  readonly #options: QueueOptions;
  readonly #places = new Map<HiveWaiter, Target>();
  readonly #routed = new Set<HiveWaiter>();
  #cancelReroute: (() => void) | undefined;

  constructor(options: QueueOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#places.size;
  }

  /** Ends once: granted, refused, given up or sent away. Throws when the wait cannot even begin. */
  wait(target: Target, asked: Asked, patience: Patience, denial: RateDecision): Promise<Lease> {
    const { signal, timeoutMs, priority } = patience;
    const refusal = this.#refusal(target, asked, timeoutMs, denial);
    if (refusal) {
      const { limitedBy } = denial;
      if (denied.hasSubscribers)
        denied.publish({ ...this.#about(target), cost: asked.use.tokens, reason: refusal.reason, limitedBy });
      throw refusal;
    }
    return new Promise((resolve, reject) => {
      const now = this.#options.clock.now();
      const onAbort = (): void => this.#end(waiter, "aborted", signal?.reason);
      const waiter: HiveWaiter = {
        asked,
        priority,
        cost: asked.use.tokens,
        since: now,
        deadline: now + timeoutMs,
        limitedBy: denial.limitedBy,
        lease: undefined,
        grant: (lease) => {
          waiter.lease = lease;
          signal?.removeEventListener("abort", onAbort);
          resolve(lease);
        },
        refuse: (reason) => {
          signal?.removeEventListener("abort", onAbort);
          reject(reason);
        },
      };
      signal?.addEventListener("abort", onAbort);
      if (waiting.hasSubscribers) {
        const { cost, limitedBy } = waiter;
        waiting.publish({ ...this.#about(target), cost, limitedBy, wait: waiter });
      }
      this.#join(waiter, target);
    });
  }

  /** Grants to all whose turn has come, ends the waits that are over, and says what is wanted. */
  serve(target: Target): void {
    const { clock } = this.#options;
    const { line } = target;
    if (!line) return;
    const now = clock.now();
    for (let late = line.overdue(now); late; late = line.overdue(now)) this.#expire(late, target, now);
    let blocked: HiveWaiter | undefined;
    let retryAt = Infinity;
    while (!blocked) {
      const outcome = this.#serveNext(target, line, now);
      if (outcome === undefined) break;
      blocked = outcome.blocked;
      retryAt = outcome.retryAt;
    }
    this.#settleDown(target, line, blocked, Math.min(retryAt, line.nextAt(now)), now);
  }

  /** Sends all away who wait for it. */
  clear(target: Target, outcome: "removed" | "closed"): void {
    for (const waiter of target.line ?? [])
      this.#end(
        waiter,
        outcome,
        outcome === "closed" ? new ClosedError() : new ResourceUnknownError(target.id, "endpoint"),
      );
  }

  /** Limits of keys are others now. */
  unblock(targets: Iterable<Target>): void {
    for (const target of targets) {
      target.line?.unblock();
      this.serve(target);
    }
  }

  close(): void {
    this.#cancelReroute?.();
    this.#cancelReroute = undefined;
  }

  #join(waiter: HiveWaiter, target: Target): void {
    const { onWaiting, clock, rerouteMs } = this.#options;
    target.line ??= new Line();
    target.line.join(waiter);
    this.#places.set(waiter, target);
    if (this.#places.size === 1) onWaiting(true);
    if (waiter.asked.candidates.length > 1) {
      this.#routed.add(waiter);
      this.#cancelReroute ??= clock.after(rerouteMs, () => this.#reroute());
    }
    this.serve(target);
  }

  /** Whoever is next, of all keys: granted, or sent away, or what stands against it. Undefined when nobody can be served. */
  #serveNext(target: Target, line: Line, now: number): { blocked?: HiveWaiter; retryAt: number } | undefined {
    for (const waiter of line.next(now)) {
      const denial = this.#options.attempt(waiter, target, now);
      if (!denial) {
        line.served(waiter);
        this.#leave(waiter, "granted", now);
        return { retryAt: Infinity };
      }
      if (denial.reason === "too-large") {
        this.#end(waiter, "too-large", tooLarge(target, waiter.asked, denial));
        return { retryAt: Infinity };
      }
      const retryAt = denial.retryAfterMs === undefined ? Infinity : now + denial.retryAfterMs;
      if (!isByKey(denial)) return { blocked: waiter, retryAt: isOwn(denial) ? retryAt : Infinity };
      line.block(waiter, now + (denial.retryAfterMs ?? LOOK_AGAIN_MS));
    }
    return undefined;
  }

  /** Says what is wanted, and sets the timer. */
  #settleDown(target: Target, line: Line, blocked: HiveWaiter | undefined, nextAt: number, now: number): void {
    const { clock } = this.#options;
    if (line.size === 0) target.line = undefined;
    const all = line.wanted(now);
    for (const share of target.shares) {
      if (line.size > 0) share.tried.forget();
      share.want(blocked && share.amounts(blocked.asked.use), share.amounts(all), now);
    }
    target.cancelTimer?.();
    target.cancelTimer =
      nextAt < Infinity && line.size > 0 ? clock.after(Math.max(1, nextAt - now), () => this.serve(target)) : undefined;
  }

  /** Those who would go elsewhere, too, go there if there is room and nobody waits. */
  #reroute(): void {
    const { clock, find, attempt, rerouteMs } = this.#options;
    this.#cancelReroute = undefined;
    const now = clock.now();
    const full = new Set<Target>();
    const left = new Set<Target>();
    for (const waiter of this.#routed) {
      const here = this.#places.get(waiter) as Target;
      for (const endpoint of waiter.asked.candidates) {
        const target = find(endpoint, waiter.asked.model);
        if (!target || target === here || target.line?.isWaiting(now) || full.has(target)) continue;
        const denial = attempt(waiter, target, now);
        if (denial) {
          if (!isByKey(denial)) full.add(target);
          continue;
        }
        here.line?.leave(waiter);
        left.add(here);
        this.#leave(waiter, "granted", now);
        break;
      }
    }
    for (const target of left) this.serve(target);
    if (this.#routed.size > 0) this.#cancelReroute = clock.after(rerouteMs, () => this.#reroute());
  }

  #expire(waiter: HiveWaiter, target: Target, now: number): void {
    const detail = `waited ${Math.round(now - waiter.since)} ms`;
    const retryAfterMs = waitOf(target, waiter.asked, now);
    target.line?.leave(waiter);
    this.#leave(waiter, "timeout", now);
    waiter.refuse(new CapacityExhaustedError(target.id, "timeout", detail, retryAfterMs));
  }

  /** Takes someone out, wherever it stands; those behind move up at once. */
  #end(waiter: HiveWaiter, outcome: "aborted" | "removed" | "closed" | "too-large", reason: unknown): void {
    const target = this.#places.get(waiter);
    if (!target) return;
    const { line } = target;
    line?.leave(waiter);
    this.#leave(waiter, outcome, this.#options.clock.now());
    waiter.refuse(reason);
    if (outcome === "aborted") this.serve(target);
    else if (line?.size === 0) this.#settleDown(target, line, undefined, Infinity, this.#options.clock.now());
  }

  #leave(
    waiter: HiveWaiter,
    outcome: "granted" | "timeout" | "aborted" | "removed" | "closed" | "too-large",
    now: number,
  ): void {
    const target = this.#places.get(waiter);
    this.#places.delete(waiter);
    this.#routed.delete(waiter);
    target?.line?.leave(waiter);
    if (this.#places.size === 0) this.#options.onWaiting(false);
    if (!target || !waited.hasSubscribers) return;
    const { cost, since, limitedBy, lease } = waiter;
    const what = { ...this.#about(target), cost, limitedBy, wait: waiter };
    waited.publish({ ...what, waitedMs: now - since, outcome, lease });
  }

  /** What an event is about. */
  #about(target: Target): OfResource {
    return { ...this.#options.origin, resource: target.id, model: namesake(target) };
  }

  /** Why a request cannot even begin to wait. */
  #refusal(target: Target, asked: Asked, timeoutMs: number, denial: RateDecision): CapacityExhaustedError | undefined {
    if (denial.reason === "too-large") return tooLarge(target, asked, denial);
    const retryAfterMs = denial.retryAfterMs ?? LOOK_AGAIN_MS;
    if (this.size >= this.#options.maxQueue)
      return new CapacityExhaustedError(target.id, "queue-full", `${this.size} wait already`, retryAfterMs);
    if (timeoutMs === 0) return new CapacityExhaustedError(target.id, "timeout", "it would have to wait", retryAfterMs);
    return undefined;
  }
}

function waitOf({ shares }: Target, { use }: Asked, now: number): number {
  return Math.ceil(Math.max(1, ...shares.map((share) => share.waitMs(share.amounts(use), now))));
}

function isByKey({ limitedBy }: RateDecision): boolean {
  return limitedBy?.startsWith("key-") ?? false;
}

/** Denied by what this process alone counts: nobody else says when that is over. */
function isOwn({ limitedBy }: RateDecision): boolean {
  return limitedBy?.startsWith("endpoint-") ?? false;
}

function tooLarge(
  { id }: Target,
  { use }: Asked,
  { limitedBy, limitTpm, limitRpm }: RateDecision,
): CapacityExhaustedError {
  const limit = limitedBy?.endsWith("rpm") ? `${limitRpm} requests` : `${limitTpm} tokens`;
  const detail = `${use.tokens} tokens can never be granted, ${limitedBy} is ${limit}`;
  return new CapacityExhaustedError(id, "too-large", detail);
}
