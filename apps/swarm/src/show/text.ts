const THOUSANDS = /\B(?=(\d{3})+(?!\d))/g;

/** 600,000 */
export function whole(value: number): string {
  return String(Math.round(value)).replace(THOUSANDS, ",");
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

/** A bar of so many characters; a mark where the allowed part ends. */
export function bar(part: number, width: number, mark = 1): string {
  const filled = Math.round(Math.min(1, Math.max(0, part)) * width);
  const cells = [..."█".repeat(filled), ..."░".repeat(width - filled)];
  const at = Math.round(mark * width);
  if (mark < 1 && at < width) cells[at] = "│";
  return cells.join("");
}
