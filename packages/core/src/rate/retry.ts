/**
 * Returns the time until a limit allows `more`, if no other request is counted; undefined if it never will. `before` is
 * the count of the previous window. In a sliding window its weight falls linearly, as does the weight of `current`
 * after the present window, so the moment can be computed. In fixed windows `before` is undefined, and `current`
 * expires at the end of the window.
 */
export function waitMs(
  more: number,
  limit: number,
  current: number,
  before: number | undefined,
  remainingMs: number,
  windowMs: number,
): number | undefined {
  if (more > limit) return undefined;
  const available = limit - more - current;
  const weighed = before ?? 0;
  if (available >= (weighed * remainingMs) / windowMs) return 0;
  if (available >= 0) return remainingMs - (available / weighed) * windowMs;
  return before === undefined ? remainingMs : remainingMs + windowMs - ((limit - more) / current) * windowMs;
}
