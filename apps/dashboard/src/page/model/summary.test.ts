import { expect, test } from "vitest";
import { rowsOf, summaryOf } from "./summary.ts";

const columns = [
  { label: "admitted", show: String },
  { label: "limit", show: String },
];

test("a chart in words has the current value and the range, and leaves out unknown columns", () => {
  expect(
    summaryOf(
      [
        [1, 2, 3],
        [5, 9, 7],
        [null, null, null],
      ],
      columns,
    ),
  ).toMatch(/^Since [\d:]+\. admitted: 7 now, 5 to 9\.$/);
  expect(
    summaryOf(
      [
        [1, 2],
        [4, 4],
        [8, null],
      ],
      columns,
    ),
  ).toMatch(/admitted: 4 now, all the time\. limit: unknown now, all the time\.$/);
  expect(summaryOf([[], [], []], columns)).toBe("Nothing to show yet.");
});

test("a chart as a table has at most 30 rows, newest first, at even steps", () => {
  const times = Array.from({ length: 600 }, (_, i) => i);
  const rows = rowsOf([times, times, times.map(() => null)], columns);
  expect(rows).toHaveLength(30);
  expect(rows[0]?.slice(1)).toEqual(["599", ""]);
  expect(rows[1]?.[1]).toBe("579");
  expect(rowsOf([[], [], []], columns)).toEqual([]);
});
