export interface Column<T> {
  readonly title: string;
  readonly of: (row: T) => string;
  /** Whether to align the column to the right. */
  readonly isNumber?: boolean;
}

/** Renders rows as an aligned table with a header, without lines. */
export function table<T>(columns: readonly Column<T>[], rows: readonly T[]): string {
  const cells = [columns.map(({ title }) => title), ...rows.map((row) => columns.map(({ of }) => of(row)))];
  const widths = columns.map((_, i) => Math.max(...cells.map((line) => lengthOf(line[i] ?? ""))));
  return cells
    .map((line) =>
      line
        .map((cell, i) => {
          const gap = " ".repeat((widths[i] ?? 0) - lengthOf(cell));
          return columns[i]?.isNumber ? gap + cell : cell + gap;
        })
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

/** Returns the number of code points, which approximates the displayed width. */
function lengthOf(text: string): number {
  return [...text].length;
}
