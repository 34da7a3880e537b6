import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "./workspace.ts";

/** What git would commit: tracked files and new ones that it does not ignore. */
const files = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], {
  cwd: root,
  encoding: "utf8",
})
  .split("\n")
  .filter((file) => /\.(ts|mjs|js|json|ya?ml|md|toml|sh)$|^\.npmrc$|^\.ci\/run$/.test(file));

const linesWith = (pattern: RegExp) =>
  files.flatMap((file) => {
    let text: string;
    try {
      text = readFileSync(join(root, file), "utf8");
    } catch {
      return []; // Deleted, and not yet committed.
    }
    return text.split("\n").flatMap((line, i) => (pattern.test(line) ? [`${file}:${i + 1}: ${line.trim()}`] : []));
  });

test("no lockfile or configuration names the host of a package registry", () => {
  expect(linesWith(/^\s*"?(registry|tarball|resolved)"?\s*[=:]\s*"?https?:/)).toEqual([]);
});

test("no file names the folder in which this clone stands", () => {
  expect(linesWith(new RegExp(root.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")))).toEqual([]);
});
