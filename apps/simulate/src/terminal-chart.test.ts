import { expect, test } from "vitest";
import { terminalChart } from "./terminal-chart.ts";

const steady = (length: number, value: number) => new Array<number>(length).fill(value);

test("a column reaches the limit line at full utilization, and half of it at half", () => {
  const seconds = [...steady(10, 1), ...steady(10, 0.5)];
  const rows = terminalChart({ seconds, levelSeconds: steady(20, 1) }).split("\n");
  const limit = rows.find((row) => row.includes("limit ┤")) ?? "";
  expect(limit.slice(9)).toMatch(/^[▁▂▃▄▅▆▇█]{10}┄{10}$/);
  const bottom = rows.find((row) => row.includes("0 ┤")) ?? "";
  expect(bottom.slice(9)).toBe("█".repeat(20));
});

test("the level has its own line, and its minimum as text", () => {
  const levelSeconds = [...steady(30, 1), ...steady(30, 0.5)];
  const text = terminalChart({ seconds: steady(60, 1), levelSeconds });
  expect(text).toMatch(/level {2}█{30}▄{30}\n/);
  expect(text).toContain("lowest 50 %");
});

test.each([40, 80, 200])("an hour fits into %i columns", (columns) => {
  const text = terminalChart({ seconds: steady(3_600, 0.9), levelSeconds: steady(3_600, 1) }, columns);
  expect(Math.max(...text.split("\n").map((row) => row.length))).toBeLessThanOrEqual(Math.min(columns, 121));
});
