import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { committable, packages, root } from "./workspace.ts";

/** Documents outside a package may use all packages, and the clients that the examples have installed. */
const folderOf = (document: string): string =>
  /^(packages|apps|tooling|bench)\//.test(document) ? dirname(document) : "examples";
const ours = Object.fromEntries(
  packages.flatMap(({ manifest, folder }) =>
    Object.entries(manifest.exports).flatMap(([entry, target]) =>
      typeof target === "string"
        ? []
        : [[manifest.name + entry.slice(1), [join("../packages", folder, String(target["@hivepace/source"]))]]],
    ),
  ),
);

/**
 * Compiles every TypeScript block of every document, unchanged. The copies are written next to their package, or into
 * the examples, to a folder that git ignores, so that they resolve the packages that a reader would have installed.
 */
test("every code block compiles", () => {
  const blocks = committable(/\.md$/).flatMap((document) => {
    const text = readFileSync(join(root, document), "utf8");
    return [...text.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, code = ""], i) => ({
      file: join(folderOf(document), ".cache", `${document.replaceAll("/", "-")}-${i + 1}.ts`),
      code: `${code}\nexport {};\n`,
    }));
  });
  const folders = new Set(blocks.map(({ file }) => join(root, dirname(file))));
  const project = join(root, ".cache/code-blocks.json");
  try {
    for (const folder of [...folders, dirname(project)]) mkdirSync(folder, { recursive: true });
    for (const { file, code } of blocks) writeFileSync(join(root, file), code);
    const compilerOptions = {
      noUnusedLocals: false,
      noUnusedParameters: false,
      isolatedModules: false,
      paths: ours,
    };
    const files = blocks.map(({ file }) => join("..", file));
    writeFileSync(project, JSON.stringify({ extends: "../tsconfig.base.json", compilerOptions, files }));
    expect(compile(project)).toBe("");
  } finally {
    for (const { file } of blocks) rmSync(join(root, file), { force: true });
  }
});

function compile(project: string): string {
  try {
    return execFileSync(join(root, "node_modules/.bin/tsc"), ["-p", project], { cwd: root, encoding: "utf8" });
  } catch (error) {
    return (error as { stdout: string }).stdout;
  }
}
