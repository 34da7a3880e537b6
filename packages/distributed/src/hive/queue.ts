import {
  type AbortSignalLike,
  CapacityExhaustedError,
  type Clock,
  ClosedError,
  type EventOrigin,
  type Lease,
  type OfResource,
  type RateDecision,
  type RequestDetails,
  type ResourceUnknownError,
  type UsedTokens,
  type WaitedEvent,
} from "@hivepace/core";
import { type AfterAbort, denied, onAbort, waited, waiting } from "@hivepace/core/internal";
import type { Charge, Verdict } from "./admission.ts";
import { DIMENSIONS, moreThan, useOf } from "./amounts-of.ts";
import type { Asked } from "./asked.ts";
import { type HiveWaiter, Line } from "./line.ts";
import { bind, revise, type Scope, unbind } from "./scope.ts";
import { namesake, type Target } from "./target.ts";

/** Retry delay for requests that wait for a call in flight to end, because its end cannot be predicted. */
const LOOK_AGAIN_MS = 1_000;

export interface Patience {
  readonly signal: AbortSignalLike | undefined;
  readonly timeoutMs: number;
  readonly priority: number;
  readonly whileWaiting: RequestDetails["whileWaiting"];
}

/** A candidate of a request, and the reason why the candidate denies the request. */
export interface Denied {
  readonly target: Target;
  readonly decision: RateDecision;
  /** The scopes of the request that deny it. */
  readonly blockedBy: readonly Scope[];
}

export interface QueueOptions {
  readonly clock: Clock;
  /** The largest number of waiters for one target. */
  readonly maxQueue: number;
  /** Decides on the next waiter, and counts its request when it is granted. */
  readonly decide: (asked: Asked, target: Target, now: number) => Verdict;
  /** Creates the lease of a counted request and notifies listeners. */
  readonly grant: (asked: Asked, charge: Charge, decision: RateDecision) => Lease;
  /** The target that the router would choose for a request now. */
  readonly prefer: (asked: Asked, targets: readonly Target[]) => Target | undefined;
  /** The denial of a request that joins the end of the target's line. */
  readonly denial: (asked: Asked, target: Target, now: number) => RateDecision | undefined;
  /** Time until a target may be called again, in milliseconds: 0 while available, Infinity when unknown. */
  readonly closedMs: (asked: Asked, target: Target, now: number) => number;
  /** The targets of a request's candidates in the present configuration; empty when no candidate is known. */
  readonly targetsOf: (asked: Asked) => readonly Target[];
  readonly unknown: (asked: Asked) => ResourceUnknownError;
  /** Readable reason why the candidates of a request are unavailable. */
  readonly whyUnavailable: (asked: Asked, candidates: readonly Target[], now: number) => string;
  /** True when the model of a request has a state of its own at this target. */
  readonly isApart: (asked: Pick<Asked, "model">, target: Target) => boolean;
  /** The origin that diagnostic events carry. */
  readonly origin: EventOrigin;
  /** While true, waiters claim nothing, because none would be sent. */
  readonly isPaused: () => boolean;
  /** Called when the first waiter arrives and when the last one ends: waiters keep the process alive. */
  readonly onWaiting: (isWaiting: boolean) => void;
}

/** The result of serving the next waiter of a line: it has left the line, or it is blocked. */
interface Served {
  readonly blocked?: HiveWaiter;
  /** The blocking limit belongs to this process alone and is not shared between agents. */
  readonly isOwn?: boolean;
  readonly retryAt: number;
}

/**
 * The waiters of a hive. A waiter stands in the line of each of its candidates, ordered by arrival, and is granted by
 * the first candidate with enough capacity; among several, by the one that the router prefers. Each target with waiters
 * has one timer.
 */
export class Queue implements AfterAbort {
  readonly #options: QueueOptions;
  readonly #waiters = new Set<HiveWaiter>();
  /** Targets whose lines changed while another line was being served. */
  readonly #changed = new Set<Target>();

  constructor(options: QueueOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#waiters.size;
  }

  /** Settles once: with a lease, or with the reason why the wait ended. Throws when the wait cannot begin. */
  wait(candidates: readonly Denied[], asked: Asked, patience: Patience): Promise<Lease> {
    const { signal, timeoutMs, priority, whileWaiting } = patience;
    const fitting = candidates.filter(({ decision }) => decision.reason !== "too-large");
    const { target: home, decision } = (fitting[0] ?? candidates[0]) as Denied;
    const refusal = fitting.length === 0 ? tooLarge(home, asked, decision) : this.#refusal(fitting, asked, timeoutMs);
    if (refusal) {
      const { limitedBy } = decision;
      if (denied.hasSubscribers)
        denied.publish({ ...this.#about(home), cost: asked.use.tokens, reason: refusal.reason, limitedBy });
      throw refusal;
    }
    return new Promise((resolve, reject) => {
      const now = this.#options.clock.now();
      const waiter: HiveWaiter = {
        asked,
        priority,
        cost: asked.use.tokens,
        since: now,
        deadline: now + timeoutMs,
        limitedBy: decision.limitedBy,
        home,
        targets: new Set(),
        scopes: new Set(),
        stopListening:
          signal && onAbort(signal, () => (this.#end(waiter, "aborted", signal.reason) ? this : undefined)),
        stopRevising: undefined,
        grant: resolve,
        refuse: reject,
      };
      this.#waiters.add(waiter);
      if (this.#waiters.size === 1) this.#options.onWaiting(true);
      if (waiting.hasSubscribers) {
        const { cost, limitedBy } = waiter;
        waiting.publish({ ...this.#about(home), cost, limitedBy, wait: waiter });
      }
      // A listener may have aborted the request or closed the hive.
      if (!this.#waiters.has(waiter)) return;
      for (const { target } of fitting) this.#join(waiter, target);
      try {
        waiter.stopRevising = whileWaiting?.((estimate) => this.#revise(waiter, estimate));
      } catch (error) {
        this.#end(waiter, "aborted", error);
      }
      this.#serveChanged();
    });
  }

  /** Grants the waiters that fit, ends overdue waits, and updates the claims of the rest. */
  serve(target: Target): void {
    this.#serveLine(target);
    this.#serveChanged();
  }

  /** Serves the lines that aborted waiters have left. */
  afterAbort(): void {
    this.#serveChanged();
  }

  /** Moves every waiter to the lines of its candidates as they are configured now. `unblock` then tries all of them again. */
  reconfigured(): void {
    for (const waiter of this.#waiters) {
      const wanted = new Set(this.#options.targetsOf(waiter.asked));
      for (const target of waiter.targets) if (!wanted.has(target)) this.#leaveLine(waiter, target);
      for (const target of wanted) if (!waiter.targets.has(target)) this.#join(waiter, target);
      if (waiter.targets.size === 0) this.#end(waiter, "removed", this.#options.unknown(waiter.asked));
    }
  }

  /** Retries the waiters that a scope has denied. */
  unblockScope(scope: Scope): void {
    const targets = new Set<Target>();
    for (const waiter of scope.bound) for (const target of waiter.targets) targets.add(target);
    for (const target of targets) {
      target.line?.unblock(scope);
      this.#serveLine(target);
    }
    this.#serveChanged();
  }

  /** Groups the waiters of a target again after a model got limits of its own. */
  regroup(target: Target): void {
    target.line?.regroup(({ asked }) => this.#groupOf(asked, target));
    target.line?.unblock();
    this.serve(target);
  }

  /** Retries all waiters whose scopes had no capacity, because the limits of the scopes have changed. */
  unblock(targets: Iterable<Target>): void {
    for (const target of targets) {
      target.line?.unblock();
      this.serve(target);
    }
    this.#serveChanged();
  }

  /** Rejects all waiters. */
  close(): void {
    for (const waiter of this.#waiters) this.#end(waiter, "closed", new ClosedError("hive"));
    this.#serveChanged();
  }

  /** Replaces the estimate of a waiter, which keeps its place, and tries it again. */
  #revise(waiter: HiveWaiter, estimate: UsedTokens): void {
    const use = useOf(estimate);
    const change = moreThan(waiter.asked.use, use);
    if (!this.#waiters.has(waiter) || DIMENSIONS.every((dimension) => change[dimension] === 0)) return;
    waiter.asked = { ...waiter.asked, use };
    for (const target of waiter.targets) {
      target.line?.revise(waiter, change);
      this.#changed.add(target);
    }
    for (const scope of waiter.scopes) revise(scope, change, this.#options.clock.now());
    this.#serveChanged();
  }

  #join(waiter: HiveWaiter, target: Target): void {
    target.line ??= new Line();
    target.line.join(waiter, this.#groupOf(waiter.asked, target));
    waiter.targets.add(target);
    this.#changed.add(target);
  }

  #groupOf(asked: Asked, target: Target): string {
    return groupOf(asked, target, this.#options.isApart(asked, target));
  }

  #leaveLine(waiter: HiveWaiter, target: Target): void {
    target.line?.leave(waiter);
    waiter.targets.delete(target);
    for (const scope of waiter.scopes) if (isOfTarget(scope, target)) unbind(scope, waiter, this.#options.clock.now());
    this.#changed.add(target);
  }

  #serveChanged(): void {
    for (const target of this.#changed) {
      this.#changed.delete(target);
      this.#serveLine(target);
    }
  }

  #serveLine(target: Target): void {
    const { clock } = this.#options;
    const { line } = target;
    if (!line) return;
    const now = clock.now();
    for (let late = line.overdue(now); late; late = line.overdue(now)) this.#expire(late, now);
    let last: Served | undefined;
    let retryAt = Infinity;
    do {
      last = this.#serveNext(target, line, now);
      if (last) retryAt = last.retryAt;
    } while (last && !last.blocked);
    // A claim for a call that this process holds back itself would only delay the other agents.
    const blocked = last?.isOwn ? undefined : last?.blocked;
    this.#changed.delete(target);
    // A listener may have served the line meanwhile, or started a new one.
    if (target.line === line) this.#settleDown(target, line, blocked, Math.min(retryAt, line.nextAt(now)), now);
  }

  /**
   * Serves the next waiter of any group: the waiter is granted, rejected, or blocked. Undefined when no waiter can be
   * served.
   */
  #serveNext(target: Target, line: Line, now: number): Served | undefined {
    for (let waiter = line.next(now); waiter; waiter = line.next(now)) {
      if (waiter.targets.size > 1 && this.#grantElsewhere(waiter, target, now)) return { retryAt: Infinity };
      const verdict = this.#options.decide(waiter.asked, target, now);
      const { decision } = verdict;
      if (verdict.charge) {
        line.served(waiter);
        this.#grant(waiter, verdict.charge, decision, now);
        return { retryAt: Infinity };
      }
      if (decision.reason === "unavailable" && this.#isHopeless(waiter, now)) {
        const candidates = [...waiter.targets];
        this.#end(
          waiter,
          "unavailable",
          this.#exhausted(waiter.asked, candidates, "unavailable", "not available in time"),
        );
        return { retryAt: Infinity };
      }
      if (decision.reason === "too-large") {
        // Another candidate may have a larger limit.
        this.#leaveLine(waiter, target);
        if (waiter.targets.size === 0) this.#end(waiter, "too-large", tooLarge(target, waiter.asked, decision));
        return { retryAt: Infinity };
      }
      const retryAt = decision.retryAfterMs === undefined ? Infinity : now + decision.retryAfterMs;
      const { blockedBy, blockedMs } = verdict;
      if (blockedBy.length === 0 && blockedMs === 0) {
        // Where only an event helps, such as the end of an isolation, the engine has to know of the demand.
        const isHeldHere = isOwn(decision) && decision.retryAfterMs !== Infinity;
        return { blocked: waiter, isOwn: isHeldHere, retryAt: isHeldHere ? retryAt : Infinity };
      }
      // A call whose scope has no capacity claims only the scope, so that it blocks no other call.
      line.block(waiter, now + Math.max(1, blockedMs), blockedBy);
      for (const scope of blockedBy) bind(scope, waiter, now);
    }
    return undefined;
  }

  /** True when no candidate of a waiter is available before its time is over. */
  #isHopeless(waiter: HiveWaiter, now: number): boolean {
    if (waiter.deadline === Infinity) return false;
    return [...waiter.targets].every((target) => {
      const closedMs = this.#options.closedMs(waiter.asked, target, now);
      return closedMs > 0 && now + closedMs > waiter.deadline;
    });
  }

  /** Grants a waiter at another candidate that the router prefers, if the waiter is next there as well. */
  #grantElsewhere(waiter: HiveWaiter, target: Target, now: number): boolean {
    const { prefer, decide } = this.#options;
    const best = prefer(waiter.asked, [...waiter.targets]);
    const line = best?.line;
    if (!best || best === target || !line) return false;
    if (line.next(now) !== waiter) return false;
    const { charge, decision } = decide(waiter.asked, best, now);
    if (!charge) return false;
    line.served(waiter);
    this.#grant(waiter, charge, decision, now);
    return true;
  }

  /** Removes the waiter from all lines before any listener is notified, so that it is granted once. */
  #grant(waiter: HiveWaiter, charge: Charge, decision: RateDecision, now: number): void {
    this.#remove(waiter);
    const lease = this.#options.grant(waiter.asked, charge, decision);
    this.#tell(waiter, charge.target, "granted", now, lease);
    waiter.grant(lease);
  }

  /**
   * Updates the claims for the waiters and sets the timer. The quotas of a target are claimed one after the other, each
   * once the quotas before it have capacity: agents that each held one claim and waited for the other would deadlock.
   * A claim may serve other lines, and thereby this one again: then the claims of that later round hold.
   */
  #settleDown(target: Target, line: Line, blocked: HiveWaiter | undefined, nextAt: number, now: number): void {
    const { clock, isPaused } = this.#options;
    if (line.size === 0) target.line = undefined;
    const all = line.wanted(now);
    let next = isPaused() ? undefined : blocked;
    const hasSlots = target.slots !== undefined;
    const round = ++line.claims;
    for (const share of target.shares) {
      if (line.claims !== round) return;
      if (line.size > 0) share.tried.forget();
      const cost = next && share.amounts(next.asked.use);
      // A call that waits for a slot does not claim a rate that has capacity: a claim takes time, and the slot would wait.
      if (cost && hasSlots && !share.isSlots && share.isOpen(cost, now)) {
        share.want(undefined, undefined, now);
        continue;
      }
      share.want(cost, share.amounts(all), now);
      if (cost && !share.mayTake(cost, now)) next = undefined;
    }
    if (line.claims !== round) return;
    target.cancelTimer?.();
    target.cancelTimer =
      nextAt < Infinity && line.size > 0 ? clock.after(Math.max(1, nextAt - now), () => this.serve(target)) : undefined;
  }

  #expire(waiter: HiveWaiter, now: number): void {
    const { home, targets } = waiter;
    const candidates = [...targets];
    if (!this.#remove(waiter)) return;
    const error = this.#exhausted(waiter.asked, candidates, "timeout", `waited ${Math.round(now - waiter.since)} ms`);
    this.#tell(waiter, home, "timeout", now, undefined);
    waiter.refuse(error);
  }

  /**
   * The error for a request that no candidate can grant. It names the limit of the candidate that has capacity first,
   * and the wait at the end of that candidate's line.
   */
  #exhausted(
    asked: Asked,
    candidates: readonly Target[],
    reason: "timeout" | "queue-full" | "unavailable",
    detail: string,
  ): CapacityExhaustedError {
    const now = this.#options.clock.now();
    let least: number = Infinity;
    let limitedBy: string | undefined;
    for (const target of candidates) {
      const denial = this.#options.denial(asked, target, now);
      const isUnknown = denial?.reason === "unavailable" && denial.retryAfterMs === undefined;
      const waitMs = isUnknown ? Number.MAX_VALUE : denial ? (denial.retryAfterMs ?? LOOK_AGAIN_MS) : 1;
      if (waitMs >= least) continue;
      least = waitMs;
      limitedBy = denial?.limitedBy;
    }
    const ids = candidates.map(({ id }) => id).join(", ");
    const limit = limitedBy && `limited by ${limitedBy}`;
    const why = limitedBy === "unavailable" ? this.#options.whyUnavailable(asked, candidates, now) : limit;
    const retryAfterMs = least === Number.MAX_VALUE ? undefined : least;
    const retry = Number.isFinite(retryAfterMs) ? `retry in ${Math.ceil(retryAfterMs as number)} ms` : undefined;
    return new CapacityExhaustedError(ids, reason, [detail, why, retry].filter(Boolean).join(", "), retryAfterMs);
  }

  /** Rejects a waiter. Returns false when its wait has already ended. Does not serve the lines that the waiter leaves. */
  #end(waiter: HiveWaiter, outcome: Exclude<WaitedEvent["outcome"], "granted" | "timeout">, reason: unknown): boolean {
    if (!this.#remove(waiter)) return false;
    this.#tell(waiter, waiter.home, outcome, this.#options.clock.now(), undefined);
    waiter.refuse(reason);
    return true;
  }

  /** Removes a waiter from all lines. Returns false when its wait has already ended. */
  #remove(waiter: HiveWaiter): boolean {
    waiter.stopListening?.();
    waiter.stopRevising?.();
    if (!this.#waiters.delete(waiter)) return false;
    for (const target of waiter.targets) this.#leaveLine(waiter, target);
    for (const scope of waiter.scopes) unbind(scope, waiter, this.#options.clock.now());
    if (this.#waiters.size === 0) this.#options.onWaiting(false);
    return true;
  }

  #tell(
    waiter: HiveWaiter,
    target: Target,
    outcome: WaitedEvent["outcome"],
    now: number,
    lease: Lease | undefined,
  ): void {
    if (!waited.hasSubscribers) return;
    const { cost, since, limitedBy } = waiter;
    const what = { ...this.#about(target), cost, limitedBy, wait: waiter };
    waited.publish({ ...what, waitedMs: now - since, outcome, lease });
  }

  /** The subject of a diagnostic event. */
  #about(target: Target): OfResource {
    return { ...this.#options.origin, resource: target.id, model: namesake(target) };
  }

  /** The error of a request that cannot wait at any candidate; undefined when it can. */
  #refusal(candidates: readonly Denied[], asked: Asked, timeoutMs: number): CapacityExhaustedError | undefined {
    const { maxQueue, closedMs, clock } = this.#options;
    const isUnavailable = candidates.every(
      ({ decision: { reason }, target }) =>
        reason === "unavailable" && closedMs(asked, target, clock.now()) > timeoutMs,
    );
    if (isUnavailable)
      return this.#exhausted(
        asked,
        candidates.map(({ target }) => target),
        "unavailable",
        "not available in time",
      );
    const isFull = candidates.every(({ target }) => (target.line?.size ?? 0) >= maxQueue);
    if (!isFull && timeoutMs > 0) return undefined;
    const targets = candidates.map(({ target }) => target);
    const size = Math.min(...targets.map(({ line }) => line?.size ?? 0));
    return isFull
      ? this.#exhausted(asked, targets, "queue-full", `${size} wait already`)
      : this.#exhausted(asked, targets, "timeout", "it would have to wait");
  }
}

/**
 * Waiters of one group have the same scopes: the same tenant key, and the same model where it has limits, or an availability,
 * of its own.
 */
export function groupOf(
  { key = "", model }: Pick<Asked, "key" | "model">,
  { byModel }: Target,
  isApart: boolean,
): string {
  const hasLimits = isApart || (model !== undefined && (byModel?.get(model)?.shares.length ?? 0) > 0);
  return hasLimits ? `${key}\0${model}` : key;
}

function isOfTarget(scope: Scope, target: Target): boolean {
  return "target" in scope && scope.target === target;
}

/** True for a limit that only this process counts, so that no message announces new capacity. */
function isOwn({ limitedBy }: RateDecision): boolean {
  return limitedBy?.startsWith("endpoint-") ?? false;
}

function tooLarge(
  { id }: Target,
  { use }: Asked,
  { limitedBy, limitTpm, limitRpm }: RateDecision,
): CapacityExhaustedError {
  const limit = limitedBy?.endsWith("rpm") ? `${limitRpm} requests` : `${limitTpm} tokens`;
  const detail =
    limitedBy === "endpoint-in-flight"
      ? `it can never be granted, ${limitedBy} is 0`
      : `${use.tokens} tokens can never be granted, ${limitedBy} is ${limit}`;
  return new CapacityExhaustedError(id, "too-large", detail);
}
