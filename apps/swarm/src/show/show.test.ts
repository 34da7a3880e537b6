import { stripVTControlCharacters } from "node:util";
import { expect, test } from "vitest";
import type { Outcome } from "../run/outcome.ts";
import type { Progress } from "../run/run-event.ts";
import { LiveReporter } from "./live-reporter.ts";
import { PlainReporter, reporterFor } from "./reporter.ts";
import { tableOf } from "./table.ts";
import { bar, duration, percent, whole } from "./text.ts";

const agent = { agentId: "agent-1", mode: "member", share: 0.2, used: 0.1, waiting: 3 } as const;
const progress: Progress = {
  type: "progress",
  level: 0.5,
  allowed: 0.6,
  used: 0.4,
  sent: 12,
  accepted: 10,
  rejected429: 2,
  agents: [agent, { ...agent, agentId: "agent-2", mode: "cut-off" }],
};

function screen(columns = 100, isTTY = true) {
  const written: string[] = [];
  return { written, columns, isTTY, write: (text: string) => void written.push(text) };
}

test("text for people", () => {
  expect([whole(600_000), whole(999), percent(0.614), duration(34.2), duration(2_500)]).toEqual([
    "600,000",
    "999",
    "61 %",
    "34 ms",
    "2.5 s",
  ]);
  expect([bar(0.5, 4), bar(0.25, 4, 0.5), bar(7, 4), bar(-1, 4)]).toEqual(["██░░", "█░│░", "████", "░░░░"]);
});

test("at a terminal the block is drawn in its place, lines go above it, and at the end it is gone", () => {
  const terminal = screen();
  let now = 0;
  const live = new LiveReporter(terminal, () => now);
  live.progress(progress, 1_000, 40_000);
  const first = terminal.written.join("");
  const height = first.split("\n").length - 1;
  expect(first).toContain("agent-2");
  expect(first).toContain("cut-off");
  live.progress(progress, 1_050, 40_000);
  expect(terminal.written.join("")).toBe(first);
  now = 1_000;
  live.progress(progress, 2_000, 40_000);
  expect(terminal.written.at(-1)).toContain(`\x1b[${height}A\x1b[0J`);
  live.line("something happened");
  expect(terminal.written.slice(-2)[0]).toBe("something happened\n");
  live.end();
  live.end();
  expect(terminal.written.slice(-2)).toEqual([`\x1b[${height}A\x1b[0J`, "\x1b[?25h"]);
});

test("no line of the block is wider than the terminal", () => {
  const narrow = screen(30);
  new LiveReporter(narrow).progress(progress, 1_000, 40_000);
  const lines = stripVTControlCharacters(narrow.written.join("")).split("\n");
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThan(30);
});

test("elsewhere there are plain lines, one of the state every five seconds", () => {
  const log = screen(80, false);
  const plain = reporterFor(log);
  expect(plain).toBeInstanceOf(PlainReporter);
  for (let at = 0; at <= 12_000; at += 100) plain.progress(progress, at, 40_000);
  plain.line("something happened");
  plain.end();
  expect(log.written).toHaveLength(3);
  expect(log.written[0]).toBe("  5.0 s  40 % of the limit used, level 50 %, 12 sent, 2 × 429, 6 waiting\n");
  expect(log.written.join("")).not.toContain("\x1b");
});

test("runs of different length are compared by the minute", () => {
  const limit = { rpm: 100, tpm: 1_000, windowMs: 10_000 };
  const figures = { limit, sent: 80, accepted: 60, rejected429: 20, utilization: 0.9, jain: 0.987 };
  const outcome = { figures, failed: 4, tookMs: 20_000 } as unknown as Outcome;
  const [head = "", row = ""] = tableOf([{ name: "with Hivepace", outcome }]);
  expect(row.split(/\s{2,}/)).toEqual(["with Hivepace", "40", "30", "10", "25 %", "2", "90 %", "0.99"]);
  expect(head).toHaveLength(row.length);
});
