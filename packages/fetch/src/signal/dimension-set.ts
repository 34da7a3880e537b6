import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "./amounts.ts";
import type { SignalDimension } from "./provider-signal.ts";

/** The windows that providers name. A month is thirty days. */
export const WINDOWS: Readonly<Record<string, number>> = {
  minute: MINUTE_MS,
  second: SECOND_MS,
  hour: HOUR_MS,
  day: DAY_MS,
  month: 30 * DAY_MS,
};

/** How far the inferred window may lie from a whole minute or day: providers round the reset. */
const TOLERANCE = 0.05;

/** Collects dimensions. A limit over an unusual window does not hide the limit over the usual one. */
export class DimensionSet {
  readonly #dims = new Map<string, SignalDimension>();

  /** Adds facts about a dimension. Facts that are already known stay. */
  add(name: string, found: SignalDimension): void {
    const known = this.#dims.get(name);
    if (known === undefined) this.#dims.set(name, { ...found });
    else this.#dims.set(name, { ...found, ...known });
  }

  has(name: string): boolean {
    return this.#dims.has(name);
  }

  values(): IterableIterator<[string, SignalDimension]> {
    return this.#dims.entries();
  }

  /** Returns the dimensions, without those of which only the reset is known. */
  toRecord(): Record<string, SignalDimension> {
    const entries: [string, SignalDimension][] = [];
    for (const [name, { limit, remaining, resetMs, windowMs, utilization, unit }] of this.#dims) {
      if (limit === undefined && remaining === undefined && utilization === undefined) continue;
      entries.push([name, withoutAbsent({ limit, remaining, resetMs, windowMs, utilization, unit })]);
    }
    return Object.fromEntries(entries);
  }
}

/**
 * Infers the window of a bucket that refills evenly: the used amount returns within `resetMs`, so the whole limit
 * returns within `resetMs * limit / used`. The result counts only when it is a minute or a day.
 */
export function inferWindow({ limit, remaining, resetMs }: SignalDimension): number | undefined {
  if (limit === undefined || remaining === undefined || resetMs === undefined) return undefined;
  const used = limit - remaining;
  if (used <= 0 || resetMs <= 0) return undefined;
  const windowMs = (limit * resetMs) / used;
  return [MINUTE_MS, DAY_MS].find((whole) => Math.abs(windowMs / whole - 1) <= TOLERANCE);
}

type Maybe<T> = { [K in keyof T]?: T[K] | undefined };

export function withoutAbsent<T extends object>(value: Maybe<T>): T {
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as T;
}
