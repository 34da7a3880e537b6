import type { UseWindow } from "../engine/use-window.ts";
import { DIMENSIONS } from "./amounts-of.ts";
import type { HiveDimension } from "./hive-types.ts";
import type { HiveWaiter } from "./line.ts";
import type { Share } from "./target.ts";

/**
 * Limits that only some calls of an endpoint have, besides the endpoint's own: those of a tenant key, or those learned for a
 * model. A call takes from the endpoint and all its scopes in one step. A waiter that a scope has denied claims only the
 * scope, so that it holds up nobody else.
 */
export interface Scope {
  shares: readonly Share[];
  /** Usage from before there was a limit to share, and the share that counts it since; none of a tenant key. */
  unshared?: UseWindow | undefined;
  counting?: Share | undefined;
  /** Leases that have not ended: settling them needs the quotas. */
  inFlight: number;
  usedAt: number;
  /** Waiters that these limits have denied, in the order of their denial, and the sum of their calls. */
  readonly bound: Set<HiveWaiter>;
  readonly wanted: Record<HiveDimension, number>;
}

export function newScope(now: number): Scope {
  const wanted = { requests: 0, tokens: 0, inputTokens: 0, outputTokens: 0 };
  return { shares: [], inFlight: 0, usedAt: now, bound: new Set(), wanted };
}

/** A scope has denied a waiter: from now on its quotas are claimed for it. */
export function bind(scope: Scope, waiter: HiveWaiter, now: number): void {
  if (scope.bound.has(waiter)) return;
  scope.bound.add(waiter);
  waiter.scopes.add(scope);
  for (const dimension of DIMENSIONS) scope.wanted[dimension] += waiter.asked.use[dimension];
  want(scope, now);
}

/** A waiter no longer waits for a scope. */
export function unbind(scope: Scope, waiter: HiveWaiter, now: number): void {
  waiter.scopes.delete(scope);
  if (!scope.bound.delete(waiter)) return;
  for (const dimension of DIMENSIONS)
    scope.wanted[dimension] = scope.bound.size === 0 ? 0 : scope.wanted[dimension] - waiter.asked.use[dimension];
  want(scope, now);
}

function want({ bound, wanted, shares }: Scope, now: number): void {
  const [first] = bound;
  for (const share of shares) {
    if (first) share.tried.forget();
    share.want(first && share.amounts(first.asked.use), share.amounts(wanted), now);
  }
}
