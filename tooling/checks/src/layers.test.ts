import { readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { describe, expect, test } from "vitest";
import { mayImport, runAnywhere } from "./layers.ts";
import { type Package, packages, sources } from "./workspace.ts";

/** What a package's own code imports, tests aside, as `file → specifier`. */
function imports(pkg: Package): { file: string; specifier: string }[] {
  return sources(pkg)
    .filter((file) => !file.endsWith(".test.ts"))
    .flatMap((file) =>
      ts
        .preProcessFile(readFileSync(join(pkg.path, file), "utf8"))
        .importedFiles.map(({ fileName }) => ({ file, specifier: fileName })),
    );
}

const nameOf = (folder: string) => (folder === "hivepace" ? folder : `@hivepace/${folder}`);
const packageOf = (specifier: string) => specifier.match(/^(@[^/]+\/[^/]+|[^@/][^/]*)/)?.[0] ?? specifier;
const isRelative = (specifier: string) => specifier.startsWith(".");

describe.each(packages.map((pkg) => [pkg.folder, pkg] as const))("%s", (folder, pkg) => {
  test("has its place among the layers", () => {
    expect(Object.keys(mayImport)).toContain(folder);
    expect(pkg.manifest.name).toBe(nameOf(folder));
  });

  test("imports only packages below it", () => {
    const allowed = (mayImport[folder] ?? []).map(nameOf);
    const ours = imports(pkg).filter(({ specifier }) => /^(@hivepace\/|hivepace(\/|$))/.test(specifier));
    expect(ours.filter(({ specifier }) => !allowed.includes(packageOf(specifier)))).toEqual([]);
  });

  test("reaches into no other package's files", () => {
    const outside = imports(pkg).filter(
      ({ file, specifier }) => isRelative(specifier) && !join(file, "..", specifier).startsWith("src"),
    );
    expect(outside).toEqual([]);
  });

  test("imports nothing that it does not declare, and declares nothing that it does not import", () => {
    const declared = Object.keys({ ...pkg.manifest.dependencies, ...pkg.manifest.peerDependencies });
    const used = imports(pkg)
      .map(({ specifier }) => specifier)
      .filter((specifier) => !isRelative(specifier) && !specifier.startsWith("node:"));
    expect([...new Set(used.map(packageOf))].sort()).toEqual(declared.sort());
  });

  if (runAnywhere.includes(folder)) {
    test("has no dependency but our own and no static import of a Node module", () => {
      const foreign = Object.keys(pkg.manifest.dependencies ?? {}).filter((name) => !name.startsWith("@hivepace/"));
      expect(foreign).toEqual([]);
      expect(imports(pkg).filter(({ specifier }) => specifier.startsWith("node:"))).toEqual([]);
    });
  }

  test("has no top-level await, so that require() can load it", () => {
    const waits = sources(pkg).filter((file) => {
      if (file.endsWith(".test.ts")) return false;
      const source = ts.createSourceFile(
        file,
        readFileSync(join(pkg.path, file), "utf8"),
        ts.ScriptTarget.ESNext,
        true,
      );
      return awaitsAtTopLevel(source);
    });
    expect(waits).toEqual([]);
  });
});

function awaitsAtTopLevel(node: ts.Node): boolean {
  if (ts.isFunctionLike(node) || ts.isClassDeclaration(node)) return false;
  if (ts.isAwaitExpression(node) || (ts.isForOfStatement(node) && node.awaitModifier)) return true;
  return ts.forEachChild(node, awaitsAtTopLevel) ?? false;
}
