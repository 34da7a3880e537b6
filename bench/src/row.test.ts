import { expect, test } from "vitest";
import { type Row, verdictOf, type Wanted } from "./row.ts";

const row = { what: "x", value: 200, unit: "bytes", ratio: { median: 4, low: 3, high: 9 } } satisfies Row;

test.each<[Wanted, string]>([
  [{ of: "ratio", direction: "at most", limit: 4 }, "PASS"],
  [{ of: "ratio", direction: "below", limit: 4 }, "MISS"],
  [{ of: "ratio", direction: "at least", limit: 4 }, "PASS"],
  [{ of: "ratio", direction: "at least", limit: 4.1 }, "MISS"],
  [{ of: "value", direction: "at most", limit: 200 }, "PASS"],
  [{ of: "value", direction: "at most", limit: 199 }, "MISS"],
])("%o is a %s", (wanted, verdict) => {
  expect(verdictOf({ ...row, wanted })).toBe(verdict);
});

test("a row without a claim has no verdict", () => {
  expect(verdictOf(row)).toBeUndefined();
});

test("a claim on a ratio that was not measured is an error, not a pass", () => {
  const wanted = { of: "ratio", direction: "below", limit: 1 } as const;
  expect(() => verdictOf({ what: "x", value: 1, unit: "ns", wanted })).toThrow("no ratio was measured");
});
