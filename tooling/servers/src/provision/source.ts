import { NotHereError, UnavailableError } from "../errors.ts";
import type { Kind } from "../kinds.ts";

export type Origin = "address" | "path" | "cache" | "docker" | "mock";

/** One source of a server or browser. `find` rejects with `NotHereError` when the next source should be tried. */
export interface Source<T> {
  readonly origin: Origin;
  find(): Promise<T>;
}

export interface Found<T> {
  readonly origin: Origin;
  readonly value: T;
  /** The reasons why earlier sources failed. */
  readonly missed: readonly string[];
}

/** Returns the first source that succeeds, in order. Any error other than `NotHereError` ends the search. */
export async function firstFound<T>(kind: Kind, sources: readonly Source<T>[]): Promise<Found<T>> {
  const missed: string[] = [];
  for (const { origin, find } of sources) {
    try {
      return { origin, value: await find(), missed };
    } catch (error) {
      if (!(error instanceof NotHereError)) throw error;
      missed.push(error.message);
    }
  }
  throw new UnavailableError(kind, missed);
}
