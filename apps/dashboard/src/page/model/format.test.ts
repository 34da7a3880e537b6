import { expect, test } from "vitest";
import { amount, clockTime, duration, limitText, percent, perWindow, plural, unitOf } from "./format.ts";

test.each([
  [0, "0"],
  [0.04, "0"],
  [3.14, "3.1"],
  [12.6, "13"],
  [9_999, "9,999"],
  [12_345, "12.3K"],
  [4_200_000, "4.2M"],
])("the amount %d reads %s", (value, text) => expect(amount(value)).toBe(text));

test.each([
  [0, "0 %"],
  [0.001, "< 1 %"],
  [0.5, "50 %"],
  [0.996, "> 99 %"],
  [1, "100 %"],
  [1.25, "125 %"],
])("the part %d reads %s", (value, text) => expect(percent(value)).toBe(text));

test.each([
  [0, "0 s"],
  [430, "0.4 s"],
  [949, "0.9 s"],
  [1_500, "1.5 s"],
  [12_300, "12 s"],
  [89_000, "89 s"],
  [120_000, "2 min"],
  [7_500_000, "2 h 5 min"],
  [3 * 86_400_000, "3 days"],
])("%d ms read %s", (ms, text) => expect(duration(ms)).toBe(text));

test.each([
  [60_000, "a minute"],
  [1_000, "a second"],
  [10_000, "in 10 s"],
])("a window of %d ms is %s", (ms, text) => expect(perWindow(ms)).toBe(text));

test("an absent limit and an unnamed dimension have words", () => {
  expect([limitText(null), limitText(undefined), limitText(5)]).toEqual(["no limit", "no limit", "5"]);
  expect([unitOf({}), unitOf({ dimension: "inputTokens" })]).toEqual(["units", "input tokens"]);
  expect([plural(1, "agent"), plural(2, "agent")]).toEqual(["1 agent", "2 agents"]);
  expect(clockTime(0)).toMatch(/^\d\d:\d\d:\d\d$/);
});
