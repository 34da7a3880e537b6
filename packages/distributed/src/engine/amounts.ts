/**
 * How much of each thing that a pool limits: requests, tokens. All amounts of one pool have the same length, and every
 * function here goes through them in step.
 */
export type Amounts = readonly number[];

export function zeros(length: number): number[] {
  return new Array<number>(length).fill(0);
}

export function addTo(sum: number[], amounts: Amounts): void {
  for (let i = 0; i < sum.length; i++) sum[i] = at(sum, i) + at(amounts, i);
}

export function takeFrom(sum: number[], amounts: Amounts): void {
  for (let i = 0; i < sum.length; i++) sum[i] = at(sum, i) - at(amounts, i);
}

export function minus(a: Amounts, b: Amounts): number[] {
  return a.map((amount, i) => amount - at(b, i));
}

export function scaled(amounts: Amounts, factor: number): number[] {
  const product = amounts.slice();
  for (let i = 0; i < product.length; i++) product[i] = at(product, i) * factor;
  return product;
}

/** Nothing in it is more than in `room`, but for what floating-point sums lose. */
export function fits(amounts: Amounts, room: Amounts): boolean {
  for (let i = 0; i < amounts.length; i++) if (at(amounts, i) > at(room, i) + SLACK) return false;
  return true;
}

export function isZero(amounts: Amounts): boolean {
  for (let i = 0; i < amounts.length; i++) if (amounts[i] !== 0) return false;
  return true;
}

export function isEqual(a: Amounts, b: Amounts): boolean {
  if (a === b) return true;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return a.length === b.length;
}

/** The largest part that it is of any limit: a call of 2 % of the requests and 30 % of the tokens has size 0.3. */
export function sizeOf(amounts: Amounts, limits: Amounts): number {
  let size = 0;
  for (let i = 0; i < amounts.length; i++) size = Math.max(size, at(amounts, i) / at(limits, i));
  return size;
}

/** Sums of fractions end a little beside the whole number that they should be. */
export const SLACK = 1e-6;

export function at(amounts: Amounts, index: number): number {
  return amounts[index] as number;
}
