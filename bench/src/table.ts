export interface Column {
  readonly title: string;
  readonly align: "left" | "right";
}

/** A table for a terminal: columns as wide as their widest cell, a rule below the header. */
export function textTable(columns: readonly Column[], rows: readonly (readonly string[])[]): string {
  const widths = columns.map(({ title }, at) => Math.max(title.length, ...rows.map((row) => row[at]?.length ?? 0)));
  const line = (cells: readonly string[]): string =>
    columns
      .map(({ align }, at) => {
        const cell = cells[at] ?? "";
        return align === "left" ? cell.padEnd(widths[at] as number) : cell.padStart(widths[at] as number);
      })
      .join("  ")
      .trimEnd();
  const head = line(columns.map(({ title }) => title));
  return [head, widths.map((width) => "─".repeat(width)).join("  "), ...rows.map(line)].join("\n");
}

export function markdownTable(columns: readonly Column[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  const rule = `|${columns.map(({ align }) => (align === "left" ? "---" : "---:")).join("|")}|`;
  return [line(columns.map(({ title }) => title)), rule, ...rows.map(line)].join("\n");
}
