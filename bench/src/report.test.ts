import { expect, test } from "vitest";
import { misses, type Report, reportJson, reportMarkdown, suiteText } from "./report.ts";

const ratio = { median: 2, low: 1.5, high: 3 };
const suite = {
  name: "s",
  title: "A suite.",
  rows: [
    { what: "plain", value: 10, unit: "ns", note: "a remark" },
    {
      what: "good",
      value: 20,
      unit: "ns",
      against: "plain",
      ratio,
      wanted: { of: "ratio", direction: "at most", limit: 4 },
    },
    {
      what: "bad",
      value: 20,
      unit: "ns",
      against: "plain",
      ratio,
      wanted: { of: "ratio", direction: "below", limit: 2 },
    },
  ],
} as const;
const report: Report = {
  machine: { cpu: "c", cores: 2, memoryBytes: 1, platform: "p", node: "v20", v8: "11", date: "d", load: 0.5 },
  parameters: { quick: false, rounds: 15, warmUpRounds: 4, sliceMs: 30, seed: 1 },
  versions: { peer: "1.2.3" },
  suites: [suite],
};

test("the text shows every verdict and the notes", () => {
  const text = suiteText(suite);
  expect(text).toMatch(/good .*2\.00 ×.*1\.50 … 3\.00.*plain.*≤ 4 × {2}PASS/);
  expect(text).toMatch(/bad .*< 2 × {2}MISS/);
  expect(text).toContain("- plain: a remark");
});

test("the Markdown names the machine and the compared versions", () => {
  const markdown = reportMarkdown(report);
  expect(markdown).toContain("Node v20");
  expect(markdown).toContain("peer 1.2.3");
  expect(markdown).toContain("| bad | 20.0 | ns | 2.00 × | 1.50 … 3.00 | plain | < 2 × | MISS |");
});

test("the JSON carries machine, parameters and verdicts", () => {
  const { machine, parameters, suites } = JSON.parse(reportJson(report));
  expect([machine.cores, parameters.seed]).toEqual([2, 1]);
  expect(suites[0].rows.map((row: { verdict?: string }) => row.verdict)).toEqual([undefined, "PASS", "MISS"]);
});

test("misses are found across suites", () => {
  expect(misses(report).map(({ what }) => what)).toEqual(["bad"]);
});
