import type { UsageWindow } from "../engine/index.ts";
import { DIMENSIONS, type Use } from "./amounts-of.ts";
import type { HiveDimension } from "./hive-types.ts";
import type { HiveWaiter } from "./line.ts";
import type { Share } from "./target.ts";

/**
 * Limits that only some calls of an endpoint have, in addition to the endpoint's own: those of a tenant key, or those
 * learned for a model. A call takes from the endpoint and all its scopes in one step. A waiter that a scope has denied
 * claims only the scope, so that it blocks no other waiter.
 */
export interface Scope {
  shares: readonly Share[];
  /** Usage from before the first shared limit, and the share that has counted it since; undefined for a tenant key. */
  unshared?: UsageWindow | undefined;
  counting?: Share | undefined;
  /** Number of open leases. Settling them needs the quotas. */
  inFlight: number;
  usedAt: number;
  /** Waiters that this scope has denied, in the order of their denial, and the sum of their calls. */
  readonly bound: Set<HiveWaiter>;
  readonly wanted: Record<HiveDimension, number>;
  /** Number of times that the claims of the waiters were updated. */
  claims: number;
}

export function newScope(now: number): Scope {
  const wanted = { requests: 0, tokens: 0, inputTokens: 0, outputTokens: 0 };
  return { shares: [], inFlight: 0, usedAt: now, bound: new Set(), wanted, claims: 0 };
}

/** Binds a waiter to the scope that has denied it: the scope's quotas are claimed for the waiter. */
export function bind(scope: Scope, waiter: HiveWaiter, now: number): void {
  if (scope.bound.has(waiter)) return;
  scope.bound.add(waiter);
  waiter.scopes.add(scope);
  for (const dimension of DIMENSIONS) scope.wanted[dimension] += waiter.asked.use[dimension];
  want(scope, now);
}

/** Unbinds a waiter that no longer waits for the scope. */
export function unbind(scope: Scope, waiter: HiveWaiter, now: number): void {
  waiter.scopes.delete(scope);
  if (!scope.bound.delete(waiter)) return;
  for (const dimension of DIMENSIONS)
    scope.wanted[dimension] = scope.bound.size === 0 ? 0 : scope.wanted[dimension] - waiter.asked.use[dimension];
  want(scope, now);
}

/** Adds `change` to the estimate of a waiter that is bound to the scope. */
export function revise(scope: Scope, change: Use, now: number): void {
  for (const dimension of DIMENSIONS) scope.wanted[dimension] += change[dimension];
  want(scope, now);
}

/** Claims the quotas that a scope has now for its waiters, after its limits have changed. */
export function claimAgain(scope: Scope, now: number): void {
  if (scope.bound.size > 0) want(scope, now);
}

/** The largest cost of the waiters. The claim must cover any of them, because several endpoints' lines serve them. */
function largestOf(waiters: Iterable<HiveWaiter>): Use {
  const largest = { requests: 0, tokens: 0, inputTokens: 0, outputTokens: 0 };
  for (const { asked } of waiters)
    for (const dimension of DIMENSIONS) largest[dimension] = Math.max(largest[dimension], asked.use[dimension]);
  return largest;
}

/** Updates the claims. A claim may serve waiters, and thereby update the claims again: then the later update holds. */
function want(scope: Scope, now: number): void {
  const { bound, wanted, shares } = scope;
  const next = bound.size === 0 ? undefined : largestOf(bound);
  const round = ++scope.claims;
  for (const share of shares) {
    if (scope.claims !== round) return;
    if (next) share.tried.forget();
    share.want(next && share.amounts(next), share.amounts(wanted), now);
  }
}
