import { NotHereError, UnavailableError } from "../errors.ts";
import type { Kind } from "../kinds.ts";

export type Origin = "address" | "path" | "cache" | "docker" | "mock";

/** One way to come by something. `find` rejects with `NotHereError` when another way should be tried. */
export interface Source<T> {
  readonly origin: Origin;
  find(): Promise<T>;
}

export interface Found<T> {
  readonly origin: Origin;
  readonly value: T;
  /** Why the sources before it do not have it. */
  readonly missed: readonly string[];
}

/** The first source that has it, in their order. Any other error than `NotHereError` ends the search. */
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
