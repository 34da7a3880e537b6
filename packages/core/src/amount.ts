/** The rule for capacities, windows and costs, worded for error messages. */
export const AMOUNT = "a number above 0 and at most 2^53 - 1";

export function isAmount(value: unknown): value is number {
  return typeof value === "number" && value > 0 && value <= Number.MAX_SAFE_INTEGER;
}
