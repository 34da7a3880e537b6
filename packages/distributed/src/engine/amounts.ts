/**
 * Amounts in all dimensions that a quota limits, such as requests and tokens: one number per dimension. All amounts of
 * one quota have the same length and order.
 */
export type Amounts = readonly number[];

/** Tolerance for the rounding errors of floating-point sums, in units of the dimension. */
export const SLACK = 1e-6;

/**
 * Returns amounts of 0. They are fractions before they are 0: V8 then stores unboxed doubles from the beginning, as all
 * sums need them. Amounts in several representations would make every access to any of them slower.
 */
export function zeros(length: number): number[] {
  const amounts: number[] = [];
  for (let i = 0; i < length; i++) amounts.push(0.5);
  return amounts.fill(0);
}

/** Returns a copy in the representation of {@link zeros}. */
export function copyOf(amounts: Amounts): number[] {
  const copy = zeros(amounts.length);
  addTo(copy, amounts);
  return copy;
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

/** True when no amount exceeds the available one in its dimension by more than {@link SLACK}. */
export function fits(amounts: Amounts, available: Amounts): boolean {
  for (let i = 0; i < amounts.length; i++) if (at(amounts, i) > at(available, i) + SLACK) return false;
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

/** The largest fraction of any limit: a cost of 2 % of the requests and 30 % of the tokens has size 0.3. */
export function sizeOf(amounts: Amounts, limits: Amounts): number {
  let size = 0;
  for (let i = 0; i < amounts.length; i++) size = Math.max(size, at(amounts, i) / at(limits, i));
  return size;
}

/** The amount of a dimension. The index is always within the quota's dimensions. */
export function at(amounts: Amounts, index: number): number {
  return amounts[index] as number;
}
