import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { packages, root, sources } from "./workspace.ts";

/** Where everything that a program can be told has to be explained. */
const page = readFileSync(join(root, "docs/failure-modes.md"), "utf8");
const code = packages
  .flatMap((pkg) => sources(pkg).map((file) => join(pkg.path, file)))
  .filter((file) => !file.endsWith(".test.ts"))
  .map((file) => readFileSync(file, "utf8"))
  .join("\n");

/** What the patterns find in all packages, each once. */
const said = (...patterns: RegExp[]) =>
  [...new Set(patterns.flatMap((pattern) => [...code.matchAll(pattern)].map(([, what = ""]) => what)))].sort();

/** All that stands in backticks in the first column of a section's tables. */
function explained(heading: string): string[] {
  const section = page.split(/^## /m).find((text) => text.startsWith(heading)) ?? "";
  const first = [...section.matchAll(/^\| (`.*?) \|/gm)].map(([, cell = ""]) => cell);
  return first.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, what = ""]) => what)).sort();
}

test("every warning is explained, and no other", () => {
  const warnings = said(/(?:warn|#say)\(\s*"(HIVEPACE_[A-Z_]+)"/g);
  expect(warnings.length).toBeGreaterThan(10);
  expect(explained("All warnings")).toEqual(warnings);
});

test("every code of an error is explained, and no other", () => {
  const codes = said(/super\("([A-Z_]+)"/g);
  expect(codes.length).toBeGreaterThan(10);
  expect(explained("All errors")).toEqual(codes);
});

test("every reason for which a message is ignored is explained", () => {
  const reasons = said(/BadMessage\("([^"]+)"/g, /\bignore\((?:agent, )?"([^"]+)"/g);
  expect(reasons.length).toBeGreaterThan(10);
  const there = explained("Messages are ignored");
  expect(reasons.filter((reason) => !there.includes(reason))).toEqual([]);
});
