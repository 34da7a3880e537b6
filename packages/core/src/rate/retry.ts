/**
 * How long until a limit allows so many more, if nothing else comes; undefined: never. `before` is what was counted in the
 * window before: it weighs less and less in a sliding window, and so does `current` after its end, so the moment can be
 * computed. In fixed windows `before` is undefined, and `current` is gone at the end of the window.
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
  const room = limit - more - current;
  const weighed = before ?? 0;
  if (room >= (weighed * remainingMs) / windowMs) return 0;
  if (room >= 0) return remainingMs - (room / weighed) * windowMs;
  return before === undefined ? remainingMs : remainingMs + windowMs - ((limit - more) / current) * windowMs;
}
