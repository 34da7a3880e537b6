import { InvalidCapacityError, InvalidConfigError, InvalidWindowError } from "@hivepace/core";
import { AMOUNT, checkKnown, isAmount, type OptionNames } from "@hivepace/core/internal";
import type { SubWindowConfig } from "../engine/index.ts";

/** A limit of a resource over a window shorter than its own. */
export interface ShorterLimit {
  /** Largest amount in any window; above 0. */
  readonly limit: number;
  /** Length of the window in milliseconds. Shorter than the window of the resource. */
  readonly windowMs: number;
}

const OPTIONS = { limit: true, windowMs: true } as const satisfies OptionNames<ShorterLimit>;

/**
 * The sub-window that a burst amounts to: no more than `burst` in the time in which that much is refilled. At a steady rate
 * it allows as much as a token bucket of that size.
 */
export function burstWindow({ limit, windowMs }: ShorterLimit, burst: number): ShorterLimit {
  return { windowMs: (windowMs * burst) / limit, limit: burst };
}

/** The sub-windows of a resource by its options; undefined for none. Throws INVALID_CAPACITY, INVALID_WINDOW or INVALID_CONFIG. */
export function subWindowsOf(
  whole: ShorterLimit,
  burst: number | undefined,
  limits: readonly ShorterLimit[] | undefined,
): readonly SubWindowConfig[] | undefined {
  if (limits !== undefined && !Array.isArray(limits)) throw new InvalidConfigError("limits", "an array", limits);
  for (const [i, each] of (limits ?? []).entries()) checkLimit(each, whole.windowMs, `limits[${i}]`);
  if (burst !== undefined && !isAmount(burst)) throw new InvalidCapacityError("burst", AMOUNT, burst);
  const all = [...(limits ?? []), ...(burst === undefined || burst >= whole.limit ? [] : [burstWindow(whole, burst)])];
  return all.length === 0 ? undefined : all.map(({ limit, windowMs }) => ({ windowMs, limits: [limit] }));
}

function checkLimit(each: ShorterLimit, longestMs: number, option: string): void {
  if (typeof each !== "object" || each === null) throw new InvalidConfigError(option, "{ limit, windowMs }", each);
  checkKnown(each, OPTIONS, `${option}.`);
  const { limit, windowMs } = each;
  if (!isAmount(limit)) throw new InvalidCapacityError(`${option}.limit`, AMOUNT, limit);
  if (!isAmount(windowMs) || windowMs >= longestMs)
    throw new InvalidWindowError(`${option}.windowMs`, `above 0 and below the window of ${longestMs} ms`, windowMs);
}
