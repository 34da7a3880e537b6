import type { ObservedUse } from "@hivepace/distributed";

/**
 * About how long one who came now would wait there, in milliseconds: the queue at the pace of the last window, or of the
 * agent's life, when that is shorter. Agents themselves tell only since when something has been waiting.
 */
export function waitOf(use: ObservedUse, limit: number, windowMs: number, upMs: number): number {
  const [waiting, used] = [use.waiting[limit] ?? 0, use.used[limit] ?? 0];
  if (waiting <= 0) return 0;
  return Math.round(used > 0 ? (waiting * Math.min(windowMs, upMs)) / used : use.waitedMs);
}
