const THOUSANDS = /\B(?=(\d{3})+(?!\d))/g;

/** 600,000 */
export function whole(value: number): string {
  return String(Math.round(value)).replace(THOUSANDS, ",");
}

/** 9,999, then 10 K and 1.2 M: five characters at most up to a billion. */
export function count(value: number): string {
  if (value < 10_000) return whole(value);
  return value < 999_500 ? `${Math.round(value / 1_000)} K` : `${(value / 1e6).toFixed(value < 99.95e6 ? 1 : 0)} M`;
}

/** 61 % */
export function percent(part: number): string {
  return `${Math.round(100 * part)} %`;
}

/** 2.5 s, 1.75 s, 34 ms */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  return `${Number((ms / 1_000).toFixed(ms < 5_000 ? 2 : 1))} s`;
}

/** 0.25 s, 12.3 s, 106 s; a dash for an unknown value. */
export function seconds(ms: number | null): string {
  if (ms === null) return "–";
  const digits = ms < 9_995 ? 2 : ms < 99_950 ? 1 : 0;
  return `${(ms / 1_000).toFixed(digits)} s`;
}

/** A bar of `width` characters, with a mark at the end of the allowed fraction. */
export function bar(part: number, width: number, mark = 1): string {
  const filled = Math.round(Math.min(1, Math.max(0, part)) * width);
  const cells = [..."█".repeat(filled), ..."░".repeat(width - filled)];
  const at = Math.round(mark * width);
  if (mark < 1 && at < width) cells[at] = "│";
  return cells.join("");
}
