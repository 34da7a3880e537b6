import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "./workspace.ts";

const readme = readFileSync(join(root, "README.md"), "utf8");

test("the README has at most 120 lines", () => {
  expect(readme.trimEnd().split("\n").length).toBeLessThanOrEqual(120);
});

test.each([
  "multi-agent",
  "429",
  "retry storm",
  "thundering herd",
  "LangGraph",
  "Claude",
  "OpenAI",
  "npx hivepace demo",
])("the README contains %s, which people search for", (words) => {
  expect(readme.replace(/\s+/g, " ")).toContain(words);
});
