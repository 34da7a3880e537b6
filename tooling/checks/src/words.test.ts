import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { committable, root } from "./workspace.ts";

const files = committable(/\.(ts|mjs|js|json|ya?ml|md|toml|sh)$|^\.npmrc$|^\.ci\/run$/);

const linesWith = (pattern: RegExp) =>
  files.flatMap((file) =>
    readFileSync(join(root, file), "utf8")
      .split("\n")
      .flatMap((line, i) => (pattern.test(line) ? [`${file}:${i + 1}: ${line.trim()}`] : [])),
  );

test("no lockfile or configuration names the host of a package registry", () => {
  expect(linesWith(/^\s*"?(registry|tarball|resolved)"?\s*[=:]\s*"?https?:/)).toEqual([]);
});

test("no file contains the path of this clone", () => {
  expect(linesWith(new RegExp(root.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")))).toEqual([]);
});
