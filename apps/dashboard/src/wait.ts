import type { ObservedUse } from "@hivepace/distributed";

/**
 * About how long one who came now would wait there, in milliseconds: the queue at the pace of the last window (or of the
 * agent's life, when that is shorter), or at that of its share, whichever is faster. Agents themselves tell only for how
 * long there has been a queue.
 */
export function waitOf(use: ObservedUse, limit: number, windowMs: number, upMs: number): number {
  const waiting = use.waiting[limit] ?? 0;
  if (waiting <= 0) return 0;
  const share = use.share[limit] ?? 0;
  const pace = Math.max(
    (use.used[limit] ?? 0) / Math.min(windowMs, upMs),
    Number.isFinite(share) ? share / windowMs : 0,
  );
  return Math.round(pace > 0 ? waiting / pace : use.waitedMs);
}
