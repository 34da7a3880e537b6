import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { packages, root, sources } from "./workspace.ts";

/** The page that must explain every warning, error code and reason. */
const page = readFileSync(join(root, "docs/failure-modes.md"), "utf8");
const code = packages
  .flatMap((pkg) => sources(pkg).map((file) => join(pkg.path, file)))
  .filter((file) => !file.endsWith(".test.ts"))
  .map((file) => readFileSync(file, "utf8"))
  .join("\n");

/** The first groups of all matches of the patterns in all packages, without duplicates. */
const said = (...patterns: RegExp[]) =>
  [...new Set(patterns.flatMap((pattern) => [...code.matchAll(pattern)].map(([, what = ""]) => what)))].sort();

/** All code spans in the first column of a section's tables. */
function explained(heading: string): string[] {
  const section = page.split(/^## /m).find((text) => text.startsWith(heading)) ?? "";
  const first = [...section.matchAll(/^\| (`.*?) \|/gm)].map(([, cell = ""]) => cell);
  return first.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, what = ""]) => what)).sort();
}

test("the documentation explains exactly the existing warnings", () => {
  const warnings = said(/(?:warn|#say)\(\s*"(HIVEPACE_[A-Z_]+)"/g);
  expect(warnings.length).toBeGreaterThan(10);
  expect(explained("All warnings")).toEqual(warnings);
});

test("the documentation explains exactly the existing error codes", () => {
  const codes = said(/super\("([A-Z_]+)"/g);
  expect(codes.length).toBeGreaterThan(10);
  expect(explained("All errors")).toEqual(codes);
});

test("the documentation explains every reason for which a message is ignored", () => {
  const reasons = said(/BadMessage\("([^"]+)"/g, /\bignore\((?:agent, )?"([^"]+)"/g);
  expect(reasons.length).toBeGreaterThan(10);
  const there = explained("Messages are ignored");
  expect(reasons.filter((reason) => !there.includes(reason))).toEqual([]);
});
