import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { committable, root } from "./workspace.ts";

const text = readFileSync(join(root, "ARCHITECTURE.md"), "utf8");
const spans = [...text.matchAll(/`([^`\n]+)`/g)].map(([, span = ""]) => span);
const files = committable(/./);

/** All folders that contain committed files, such as "packages" and "packages/core". */
const folders = [
  ...new Set(files.flatMap((file) => [...file.matchAll(/\//g)].map(({ index }) => file.slice(0, index)))),
];

/** True when a file or folder has this path, or a path that ends with it. `*` stands for a part of a name. */
function exists(path: string): boolean {
  const parts = path.replace(/\/$/, "").split("*");
  const pattern = parts.map((part) => part.replace(/[.+?^${}()|[\]\\]/g, "\\$&")).join("[^/]*");
  const end = new RegExp(`(?:^|/)${pattern}$`);
  return [...files, ...folders].some((one) => end.test(one));
}

test("every path and file name in ARCHITECTURE.md exists", () => {
  const paths = spans.filter((span) => /^[\w.*-]+(?:\/[\w.*-]+)+\/?$|^[\w*-]+\.(?:ts|mjs|lua|md|json)$/.test(span));
  expect(paths.length).toBeGreaterThan(100);
  expect(paths.filter((path) => !exists(path))).toEqual([]);
});

test("ARCHITECTURE.md names every package, program and tool, and every folder in the source of a package", () => {
  const named = new Set(spans.map((span) => span.replace(/^@hivepace\//, "packages/")));
  const isNamed = (folder: string) =>
    [folder, folder.replace(/^packages\/(?:[^/]+\/src\/)?/, "")].some((name) => named.has(name)) ||
    [...named].some((path) => path.startsWith(`${folder}/`));
  const required = folders.filter((folder) =>
    /^(?:packages|apps|tooling)\/[^/]+$|^(?:bench|examples)$|^packages\/[^/]+\/src\/[^/]+$/.test(folder),
  );
  expect(required.length).toBeGreaterThan(40);
  expect(required.filter((folder) => !isNamed(folder))).toEqual([]);
});
