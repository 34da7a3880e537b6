import { readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { describe, expect, test } from "vitest";
import { mayBundle, mayImport, runAnywhere } from "./layers.ts";
import { type Package, packages, privatePackages, sources } from "./workspace.ts";

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

/** The files that a program can reach which imports the package, from its `exports` on. */
function libraryFiles(pkg: Package): Set<string> {
  const entries = Object.values(pkg.manifest.exports).flatMap((target) =>
    typeof target === "string" ? [] : [join(String(target["@hivepace/source"]))],
  );
  const all = imports(pkg);
  const reached = new Set(entries);
  for (const file of reached)
    for (const { specifier } of all.filter((one) => one.file === file && isRelative(one.specifier)))
      reached.add(join(file, "..", specifier));
  return reached;
}

const nameOf = (folder: string) => (folder === "hivepace" ? folder : `@hivepace/${folder}`);
const packageOf = (specifier: string) => specifier.match(/^(@[^/]+\/[^/]+|[^@/][^/]*)/)?.[0] ?? specifier;
const isRelative = (specifier: string) => specifier.startsWith(".");

describe.each(packages.map((pkg) => [pkg.folder, pkg] as const))("%s", (folder, pkg) => {
  test("has its place among the layers", () => {
    expect(Object.keys(mayImport)).toContain(folder);
    expect(pkg.manifest.name).toBe(nameOf(folder));
  });

  const bundled = (mayBundle[folder] ?? []).map(nameOf);

  test("imports only packages below it, in its programs also what is built into them", () => {
    const allowed = (mayImport[folder] ?? []).map(nameOf);
    const library = libraryFiles(pkg);
    const ours = imports(pkg).filter(({ specifier }) => /^(@hivepace\/|hivepace(\/|$))/.test(specifier));
    const wrong = ours.filter(({ file, specifier }) => {
      const name = packageOf(specifier);
      return !allowed.includes(name) && !(bundled.includes(name) && !library.has(file));
    });
    expect(wrong).toEqual([]);
  });

  if (bundled.length > 0) {
    test("has a library that reaches none of its programs", () => {
      const programs = [...libraryFiles(pkg)].filter((file) => /^src\/(programs|command|build)\//.test(file));
      expect(programs).toEqual([]);
      expect(sources(pkg).filter((file) => file.startsWith("src/programs/")).length).toBeGreaterThan(0);
    });

    test("builds only private packages into its programs, and declares them for development alone", () => {
      const names = [...new Set(imports(pkg).map(({ specifier }) => packageOf(specifier)))];
      const inside = names.filter((name) => bundled.includes(name));
      expect(inside.filter((name) => !privatePackages.includes(name))).toEqual([]);
      const development = pkg.manifest["devDependencies"] as Record<string, string>;
      expect(inside.filter((name) => !(name in development))).toEqual([]);
    });
  }

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
      .filter((specifier) => !isRelative(specifier) && !specifier.startsWith("node:"))
      .filter((specifier) => !bundled.includes(packageOf(specifier)));
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
