import type { ObservedUse } from "@hivepace/distributed";

/**
 * Estimates the wait of a new request, in milliseconds: the queue divided by the rate of the last window (or of the
 * agent's uptime, when shorter), or by the rate of its share, whichever is higher. Agents report only how long they
 * have had a queue; calls under way have no window, so that time is the estimate.
 */
export function waitOf(use: ObservedUse, limit: number, windowMs: number, upMs: number): number {
  const waiting = use.waiting[limit] ?? 0;
  if (waiting <= 0) return 0;
  if (windowMs <= 0) return Math.round(use.waitedMs);
  const share = use.share[limit] ?? 0;
  const pace = Math.max(
    (use.used[limit] ?? 0) / Math.min(windowMs, upMs),
    Number.isFinite(share) ? share / windowMs : 0,
  );
  return Math.round(pace > 0 ? waiting / pace : use.waitedMs);
}
