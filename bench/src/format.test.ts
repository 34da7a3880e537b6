import { expect, test } from "vitest";
import { formatNumber, formatRatio, formatSpread, formatWanted } from "./format.ts";
import { spreadOf } from "./statistics.ts";

test.each([
  [1_234_567.8, "1,234,568"],
  [99.96, "100.0"],
  [12.345, "12.3"],
  [0.5, "0.50"],
  [0.0000163, "0.000016"],
  [0, "0.00"],
])("%d reads %s", (value, text) => {
  expect(formatNumber(value)).toBe(text);
});

test("a missing measurement is an empty cell", () => {
  expect(formatRatio(undefined) + formatSpread(undefined)).toBe("");
});

test("a single measurement has no spread", () => {
  expect(formatSpread(spreadOf([2]))).toBe("");
  expect(formatSpread(spreadOf([1, 2]))).toBe("1.10 … 1.90");
});

test("a wanted ratio is a factor, a wanted value has the row's unit", () => {
  const row = { what: "x", value: 1, unit: "bytes" };
  expect(formatWanted({ ...row, wanted: { of: "ratio", direction: "at most", limit: 4 } })).toBe("≤ 4 ×");
  expect(formatWanted({ ...row, wanted: { of: "value", direction: "below", limit: 8_000 } })).toBe("< 8,000 bytes");
});
