import { expect, test } from "vitest";
import { type Column, markdownTable, textTable } from "./table.ts";

const columns: Column[] = [
  { title: "what", align: "left" },
  { title: "ns", align: "right" },
];

test("columns are as wide as their widest cell, and numbers are right-aligned", () => {
  const rows = [
    ["a long name", "7"],
    ["b", "1,234"],
  ];
  expect(textTable(columns, rows)).toBe(
    ["what            ns", "───────────  ─────", "a long name      7", "b            1,234"].join("\n"),
  );
});

test("a missing cell is an empty one", () => {
  expect(textTable(columns, [["a"]])).toBe(["what  ns", "────  ──", "a"].join("\n"));
});

test("Markdown has the alignment, and escapes characters that would end a cell", () => {
  expect(markdownTable(columns, [["a|b", "7"]])).toBe(["| what | ns |", "|---|---:|", "| a\\|b | 7 |"].join("\n"));
});
