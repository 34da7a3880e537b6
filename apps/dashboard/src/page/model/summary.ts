import { clockTime } from "./format.ts";
import type { Columns } from "./series.ts";

/** A column of a chart: what it is called, and how its values read. */
export interface Column {
  readonly label: string;
  readonly show: (value: number) => string;
}

/** A chart in a sentence for each column: now, least and most. */
export function summaryOf([times, ...values]: Columns, columns: readonly Column[]): string {
  const sentences = columns.flatMap(({ label, show }, i) => {
    const known = (values[i] ?? []).filter((value) => value !== null);
    const now = values[i]?.at(-1);
    if (known.length === 0) return [];
    const [least, most] = [show(Math.min(...known)), show(Math.max(...known))];
    const range = least === most ? "all the time" : `${least} to ${most}`;
    return [`${label}: ${now == null ? "unknown" : show(now)} now, ${range}.`];
  });
  if (sentences.length === 0) return "Nothing to show yet.";
  return `Since ${clockTime((times[0] ?? 0) * 1_000)}. ${sentences.join(" ")}`;
}

const MOST_ROWS = 30;

/** The same as rows of text, newest first, at even steps: at most 30 of them. */
export function rowsOf([times, ...values]: Columns, columns: readonly Column[]): readonly (readonly string[])[] {
  const step = Math.max(1, Math.ceil(times.length / MOST_ROWS));
  const rows: string[][] = [];
  for (let i = times.length - 1; i >= 0; i -= step) {
    const cells = columns.map(({ show }, column) => {
      const value = values[column]?.[i];
      return value == null ? "" : show(value);
    });
    rows.push([clockTime((times[i] ?? 0) * 1_000), ...cells]);
  }
  return rows;
}
