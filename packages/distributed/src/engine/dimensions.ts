import type { Amounts } from "./amounts.ts";

/**
 * Names of the units that a quota's limits count, in the order of the limits. With the name and the window they
 * identify the quota.
 */
export type Dimensions = readonly string[];

/** The limit of a dimension that is not limited. No real limit comes near this number. */
export const UNLIMITED = 1e12;

/** Limits and their dimensions; absent dimensions are the usual ones for that number of limits. */
export interface Dimensioned {
  readonly limits: Amounts;
  readonly dimensions?: Dimensions | undefined;
}

const USUAL: Dimensions = ["requests", "tokens"];
const usual = new Map<number, Dimensions>();

/** Default dimensions for `count` limits: requests, tokens, then positions as names. */
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

/** For each dimension of `to`, its index in `from`, or -1 when `from` lacks it. */
export function indicesOf(to: Dimensions, from: Dimensions): readonly number[] {
  return to.map((name) => from.indexOf(name));
}

/** The amounts at these indices; `absent` where the index is -1. */
export function pick(amounts: Amounts, indices: readonly number[], absent = 0): number[] {
  return indices.map((index) => (index < 0 ? absent : (amounts[index] as number)));
}
