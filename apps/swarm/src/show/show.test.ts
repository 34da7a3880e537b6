import { stripVTControlCharacters } from "node:util";
import { expect, test } from "vitest";
import { planOf } from "../plan.ts";
import { pacings, rows } from "../rows.ts";
import type { Progress } from "../run/run-event.ts";
import type { Score } from "../run/score.ts";
import { scenarioNames } from "../scenarios.ts";
import { introduction } from "./introduction.ts";
import { LiveReporter } from "./live-reporter.ts";
import { PlainReporter, reporterFor } from "./reporter.ts";
import { LEGEND, tableOf } from "./table.ts";
import { bar, count, duration, percent, seconds, whole } from "./text.ts";

const agent = { agentId: "agent-1", mode: "member", share: 0.2, used: 0.1, waiting: 3 } as const;
const progress: Progress = {
  type: "progress",
  level: 0.5,
  allowed: 0.6,
  used: 0.4,
  sent: 12,
  accepted: 10,
  rejected429: 2,
  agents: [agent, { ...agent, agentId: "agent-2", mode: "isolated" }],
};

const scores = pacings.map(
  (row): Score => ({
    row,
    tasksFinished: 9_999,
    tasksFailed: 0,
    callsFailed: 0,
    wastedCalls: 9_999,
    wastedTokens: 999_999,
    latencyP50Ms: row === "hive" ? 250 : null,
    latencyP99Ms: row === "hive" ? 59_900 : null,
    utilization: 1,
  }),
);

function screen(columns = 100, isTTY = true) {
  const written: string[] = [];
  return { written, columns, isTTY, write: (text: string) => void written.push(text) };
}

test("numbers and durations are formatted for people", () => {
  expect([whole(600_000), whole(999), percent(0.614), duration(34.2), duration(2_500)]).toEqual([
    "600,000",
    "999",
    "61 %",
    "34 ms",
    "2.5 s",
  ]);
  expect([9_999, 10_000, 139_071, 999_999, 123_456_789].map(count)).toEqual([
    "9,999",
    "10 K",
    "139 K",
    "1.0 M",
    "123 M",
  ]);
  expect([null, 250, 9_994, 12_340, 106_400].map(seconds)).toEqual(["–", "0.25 s", "9.99 s", "12.3 s", "106 s"]);
  expect([bar(0.5, 4), bar(0.25, 4, 0.5), bar(7, 4), bar(-1, 4)]).toEqual(["██░░", "█░│░", "████", "░░░░"]);
});

test("on a terminal the block is redrawn in place, lines scroll above it, and the end removes it", () => {
  const terminal = screen();
  let now = 0;
  const live = new LiveReporter(terminal, () => now);
  live.progress(progress, 1_000, 40_000, []);
  const first = terminal.written.join("");
  const height = first.split("\n").length - 1;
  expect(first).toContain("agent-2");
  expect(first).toContain("isolated");
  live.progress(progress, 1_050, 40_000, []);
  expect(terminal.written.join("")).toBe(first);
  now = 1_000;
  live.progress(progress, 2_000, 40_000, []);
  expect(terminal.written.at(-1)).toContain(`\x1b[${height}A\x1b[0J`);
  live.line("something happened");
  expect(terminal.written.slice(-2)[0]).toBe("something happened\n");
  live.end();
  live.end();
  expect(terminal.written.slice(-2)).toEqual([`\x1b[${height}A\x1b[0J`, "\x1b[?25h"]);
});

test.each([[[]], [scores]])("no line of the block is wider than the terminal", (shown) => {
  const narrow = screen(30);
  new LiveReporter(narrow).progress(progress, 1_000, 40_000, shown);
  const lines = stripVTControlCharacters(narrow.written.join("")).split("\n");
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(30);
});

test("without a terminal there are plain lines, with the state once per minute of the demo", () => {
  const log = screen(80, false);
  const plain = reporterFor(log);
  expect(plain).toBeInstanceOf(PlainReporter);
  for (let at = 0; at <= 150_000; at += 1_000) plain.progress(progress, at, 400_000, scores);
  plain.line("something happened");
  plain.end();
  expect(log.written).toHaveLength(3);
  expect(log.written[0]).toBe("  1:00  40 % of the limit used, level 50 %, 12 sent, 2 × 429, 6 waiting\n");
  expect(log.written.join("")).not.toContain("\x1b");
});

test("with several rows, the block is the table, redrawn in place", () => {
  const terminal = screen();
  new LiveReporter(terminal).progress(progress, 65_000, 360_000, scores);
  const text = stripVTControlCharacters(terminal.written.join(""));
  expect(text).toContain("1:05 of 6:00");
  expect(text).toContain("equal split");
});

test("the table has a row for each way, in 80 columns however large the numbers are", () => {
  const [, , first = "", second = ""] = tableOf(scores);
  expect(first.replace(/ +/g, " ")).toBe("Hivepace 9,999 0 0 9,999 1.0 M 0.25 s 59.9 s 100 %");
  expect(second).toMatch(/^equal split .* – {2,}– +100 %$/);
  for (const line of [...tableOf(scores), ...LEGEND]) expect(line.length).toBeLessThan(80);
  for (const row of pacings) expect(rows[row].title.length).toBeLessThanOrEqual(19);
});

test.each(scenarioNames)("%s: the introduction fits into 80 columns", (scenario) => {
  const plan = planOf({ agents: 64, rpm: 6_000, tpm: 20_000_000, scenario, duration: 86_400, seed: 1 });
  const lines = introduction(plan, scenario, { name: "redis", hosts: "process" }, true);
  for (const line of lines) expect(line.length, line).toBeLessThanOrEqual(80);
});
