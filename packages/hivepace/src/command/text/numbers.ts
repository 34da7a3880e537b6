const GROUPED = new Intl.NumberFormat("en-US", { maximumFractionDigits: 1 });

/** The amount that agents publish for an absent limit; see docs/wire.md. */
const UNLIMITED = 1e12;

export const isUnlimited = (value: number): boolean => value >= UNLIMITED;

/** Formats an amount with thousands separators, or as "no limit". */
export function amount(value: number): string {
  return isUnlimited(value) ? "no limit" : GROUPED.format(value);
}

/** Formats a fraction in percent; returns an empty text without a limit. */
export function percent(part: number, whole: number): string {
  return whole > 0 && !isUnlimited(whole) ? `${Math.round((100 * part) / whole)} %` : "";
}
