import type { Amounts } from "./amounts.ts";

/** What each limit of a quota counts, in the order of its limits. Part of the quota's identity, with its name and window. */
export type Dimensions = readonly string[];

/** Limits, with the names of what they count where these are not the usual ones. */
export interface Dimensioned {
  readonly limits: Amounts;
  readonly dimensions?: Dimensions | undefined;
}

const USUAL: Dimensions = ["requests", "tokens"];
const usual = new Map<number, Dimensions>();

/** The names of that many limits where none are given: requests and tokens, then their positions. */
function usualDimensions(count: number): Dimensions {
  let names = usual.get(count);
  if (!names) {
    names = Array.from({ length: count }, (_, i) => USUAL[i] ?? String(i));
    usual.set(count, names);
  }
  return names;
}

export function dimensionsOf({ limits, dimensions }: Dimensioned): Dimensions {
  return dimensions ?? usualDimensions(limits.length);
}

export function hasSameDimensions(a: Dimensioned, b: Dimensioned): boolean {
  if (a.limits.length !== b.limits.length) return false;
  if (a.dimensions === b.dimensions) return true;
  const names = dimensionsOf(b);
  return dimensionsOf(a).every((name, i) => name === names[i]);
}

/** For each dimension of `to` its index in `from`; -1 where `from` does not have it. */
export function indicesOf(to: Dimensions, from: Dimensions): readonly number[] {
  return to.map((name) => from.indexOf(name));
}

/** The amounts at these indices; `absent` where the index is -1. */
export function pick(amounts: Amounts, indices: readonly number[], absent = 0): number[] {
  return indices.map((index) => (index < 0 ? absent : (amounts[index] as number)));
}
