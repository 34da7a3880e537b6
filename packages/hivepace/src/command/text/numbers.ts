const GROUPED = new Intl.NumberFormat("en-US", { maximumFractionDigits: 1 });

/** With commas; an infinite one is no limit. */
export function amount(value: number): string {
  return value === Infinity ? "∞" : GROUPED.format(value);
}

export function percent(part: number, whole: number): string {
  if (whole === Infinity) return "";
  return whole > 0 ? `${Math.round((100 * part) / whole)} %` : "";
}
