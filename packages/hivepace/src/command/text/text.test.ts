import { expect, test } from "vitest";
import { clean } from "./clean.ts";
import { parseDuration, showDuration } from "./duration.ts";
import { jsonLine } from "./json.ts";
import { nearest } from "./nearest.ts";
import { table } from "./table.ts";
import { wrap } from "./wrap.ts";

test.each([
  ["1500", 1_500],
  ["1500ms", 1_500],
  ["1.5s", 1_500],
  ["2m", 120_000],
  ["2min", 120_000],
  ["1h", 3_600_000],
  ["0.5", 1],
])("%s is a duration", (text, ms) => {
  expect(parseDuration("--for", text)).toBe(ms);
});

test.each(["", "0", "-1s", "5x", "s", "1e9", "25d", "Infinity", "5 s"])(
  "%j is not a duration, and the error names the option",
  (text) => {
    expect(() => parseDuration("--for", text)).toThrowError(/^--for must be a duration .* got /);
  },
);

test.each([
  [0, "0 ms"],
  [999, "999 ms"],
  [999.6, "1 s"],
  [1_250, "1.3 s"],
  [59_940, "60 s"],
  [90_000, "1.5 min"],
  [3_600_000, "1 h"],
  [200_000_000, "2.3 d"],
])("%i ms is formatted as %s", (ms, text) => {
  expect(showDuration(ms)).toBe(text);
});

test("text from other agents cannot move the cursor or start a line", () => {
  expect(clean("a\x1b[2Jb\r\nc\u202ed\x9b31m")).toBe("a�[2Jb��c�d�31m");
  expect(clean("x".repeat(300))).toHaveLength(200);
  expect(clean("agent-3 → ü 日本")).toBe("agent-3 → ü 日本");
});

test("a table aligns its columns, with numbers to the right", () => {
  const rows = [
    { name: "eu", used: "5" },
    { name: "a→b", used: "1,000" },
  ];
  const text = table(
    [
      { title: "NAME", of: (row) => row.name },
      { title: "USED", of: (row) => row.used, isNumber: true },
    ],
    rows as { name: string; used: string }[],
  );
  expect(text.split("\n")).toEqual(["NAME   USED", "eu        5", "a→b   1,000"]);
});

test("wrapping keeps all words, in lines that fit", () => {
  const text = "one two three four five sixteen-letters-";
  const lines = wrap(text, 10);
  expect(lines.join(" ")).toBe(text);
  expect(lines.slice(0, -1).every((line) => line.length <= 10)).toBe(true);
});

test.each([
  ["wach", "watch"],
  ["Status", "status"],
  ["doctr", "doctor"],
  ["zebra", undefined],
])("%s probably means %s", (word, meant) => {
  expect(nearest(word, ["watch", "status", "doctor"])).toBe(meant);
});

test("JSON contains null for undefined and infinite values", () => {
  expect(jsonLine({ a: undefined, b: Infinity, c: 1 })).toBe('{"a":null,"b":null,"c":1}\n');
});
