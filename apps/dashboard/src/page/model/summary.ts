import { clockTime } from "./format.ts";
import type { Columns } from "./series.ts";

/** A column of a chart: its label, and the format of its values. */
export interface Column {
  readonly label: string;
  readonly show: (value: number) => string;
}

/** Describes a chart with a sentence per column: current value, minimum and maximum. */
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

/** Returns the same values as text rows, newest first, at even steps, at most 30. */
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
