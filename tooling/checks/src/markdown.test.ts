import { expect, test } from "vitest";
import { readMarkdown, slug } from "./markdown.ts";

test.each([
  ["Failure behaviour", "failure-behaviour"],
  ["`ratelimit.capacity`: the provider allows less", "ratelimitcapacity-the-provider-allows-less"],
  ["429 with parallel agents", "429-with-parallel-agents"],
  ["What it *does not* promise, and [why](why.md)", "what-it-does-not-promise-and-why"],
  ["RPM & TPM", "rpm--tpm"],
  ["snake_case stays", "snake_case-stays"],
])("the heading %j is called %j", (heading, name) => {
  expect(slug(heading)).toBe(name);
});

test("a heading that is there twice is called by its number the second time", () => {
  expect([...readMarkdown("# One\n## One\n### One\n").anchors]).toEqual(["one", "one-1", "one-2"]);
});

test("links are found in all their forms, with their lines", () => {
  const text = [
    'See [a](a.md), ![b](b.svg "a title") and [c](<c.md#x>).',
    "[d]: d.md",
    '<img src="e.svg"><a href="#f">f</a>',
    "[`code`](g.md)",
  ];
  expect(readMarkdown(text.join("\n")).links).toEqual([
    { target: "a.md", line: 1 },
    { target: "b.svg", line: 1 },
    { target: "c.md#x", line: 1 },
    { target: "d.md", line: 2 },
    { target: "e.svg", line: 3 },
    { target: "#f", line: 3 },
    { target: "g.md", line: 4 },
  ]);
});

test("links and headings in code are ignored", () => {
  const { links, anchors } = readMarkdown("```md\n[a](a.md)\n# A\n```\n`[b](b.md)`\n~~~~\n```\n# C\n~~~~\n# D\n");
  expect(links).toEqual([]);
  expect([...anchors]).toEqual(["d"]);
});
