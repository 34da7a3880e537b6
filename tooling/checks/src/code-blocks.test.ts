import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { committable, packages, root } from "./workspace.ts";

/** Documents outside a package speak of all packages, and of the clients that the examples use. */
const clients = {
  openai: ["../examples/node_modules/openai/index.d.ts"],
  "@opentelemetry/*": ["../examples/node_modules/@opentelemetry/*/build/src/index.d.ts"],
};
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
 * Every TypeScript block of every document, compiled as it stands. The copies are put beside their document, in a folder
 * that git ignores, so that they see the packages that a reader of that document would have installed.
 */
test("every code block compiles", () => {
  const blocks = committable(/\.md$/).flatMap((document) => {
    const text = readFileSync(join(root, document), "utf8");
    return [...text.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, code = ""], i) => ({
      file: join(dirname(document), ".cache", `${document.split("/").at(-1)}-${i + 1}.ts`),
      code: `${code}\nexport {};\n`,
    }));
  });
  const folders = new Set(blocks.map(({ file }) => join(root, dirname(file))));
  const project = join(root, ".cache/code-blocks.json");
  try {
    for (const folder of folders) mkdirSync(folder, { recursive: true });
    for (const { file, code } of blocks) writeFileSync(join(root, file), code);
    const compilerOptions = {
      noUnusedLocals: false,
      noUnusedParameters: false,
      isolatedModules: false,
      paths: { ...clients, ...ours },
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
