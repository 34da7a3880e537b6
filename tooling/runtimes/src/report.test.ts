import { expect, test } from "vitest";
import { failureReport, hasFailed, type Outcome, resultTable } from "./report.ts";
import { readSteps } from "./smoke-test.ts";
import { readResults } from "./unit-tests.ts";

const ended = { code: 0, tookMs: 12_400, log: "some/file.log", output: "first line\nlast line\n" };
const node: Outcome = {
  runtime: { id: "node-22", kind: "node", version: "22.1.0" },
  unit: { ...ended, passed: 5, failed: 0 },
  smoke: { ...ended, passed: 3, failed: undefined },
};
const bun: Outcome = {
  runtime: { id: "bun", kind: "bun", version: "1.4.4" },
  smoke: { ...ended, passed: 2, failed: "limited fetch" },
};
const deno: Outcome = { runtime: { id: "deno", kind: "deno", version: "2.9.5" }, error: "no such package" };

test("the table has a line for each runtime", () => {
  expect(resultTable([node, bun, deno])).toBe(
    [
      "runtime  version  unit tests                smoke steps",
      "node-22  22.1.0   5 passed, 0 failed, 12 s  3 passed, 12 s",
      "bun      1.4.4    -                         2 passed, failed: limited fetch, 12 s",
      "deno     2.9.5    -                         no such package",
    ].join("\n"),
  );
});

test("a failed step, a failed unit test and an unavailable runtime are failures", () => {
  expect([node, bun, deno].map(hasFailed)).toEqual([false, true, true]);
  expect(hasFailed({ ...node, unit: { ...ended, passed: 4, failed: 1 } })).toBe(true);
});

test("a failure has its log, the end of the log, and the command that repeats it", () => {
  const report = failureReport([node, bun]);
  expect(report).toContain("some/file.log ends with:\nfirst line\nlast line");
  expect(report).toContain("runtimes --only bun");
  expect(report).not.toContain("node-22");
  expect(failureReport([node])).toBe("");
});

test.each([
  ["all steps", "ok one: fine\nok two: fine\ndone 2 of 2\n", 0, undefined],
  ["a step that failed", "ok one: fine\nFAILED two: Error: no\n", 1, "two"],
  ["a bad end after the last step", "ok one: fine\ndone 1 of 1\n", 3, "the program ended with 3"],
  ["a hang after the last step", "ok one: fine\ndone 1 of 1\n", undefined, expect.stringContaining("signal")],
  ["an early end without an error", "ok one: fine\n", 0, expect.stringContaining("before its last step")],
  ["a program that says nothing", "", 0, expect.stringContaining("before its last step")],
])("%s is told from the output of a smoke program", (_, output, code, failed) => {
  expect(readSteps(output, code)).toEqual({ passed: output.match(/^ok/gm)?.length ?? 0, failed });
});

test.each([
  ["passed tests", { numPassedTests: 5, numFailedTests: 0, numFailedTestSuites: 0 }, 0, { passed: 5, failed: 0 }],
  ["failed tests", { numPassedTests: 5, numFailedTests: 2, numFailedTestSuites: 1 }, 1, { passed: 5, failed: 2 }],
  ["a broken file", { numPassedTests: 5, numFailedTests: 0, numFailedTestSuites: 1 }, 1, { passed: 5, failed: 1 }],
  ["an unhandled error", { numPassedTests: 5, numFailedTests: 0 }, 1, { passed: 5, failed: 1 }],
  ["no test at all", { numPassedTests: 0, numFailedTests: 0 }, 0, { passed: 0, failed: 1 }],
])("%s are counted in Vitest's report", (_, report, code, counts) => {
  expect(readResults(JSON.stringify(report), code)).toEqual(counts);
});

test.each([undefined, "", "half of a rep"])("a run whose report is %j has failed", (json) => {
  expect(readResults(json, 0)).toEqual({ passed: 0, failed: 1 });
});
