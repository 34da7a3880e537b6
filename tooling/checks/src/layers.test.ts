import { readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import { describe, expect, test } from "vitest";
import { closedFolders, inlinedMayImport, mayBuildIn, mayBundle, mayImport, mayInline, runAnywhere } from "./layers.ts";
import { inlinable, type Package, packages, privatePackages, root, sources } from "./workspace.ts";

/** Private packages have their test support in `src/testing`, which is not built into anything. */
const isInlined = ({ manifest }: Package) => manifest["private"] === true;

/** The imports of a package's own code without tests, as `file → specifier`. */
function imports(pkg: Package): { file: string; specifier: string }[] {
  return sources(pkg)
    .filter((file) => !file.endsWith(".test.ts") && !(isInlined(pkg) && file.startsWith("src/testing/")))
    .flatMap((file) =>
      ts
        .preProcessFile(readFileSync(join(pkg.path, file), "utf8"))
        .importedFiles.map(({ fileName }) => ({ file, specifier: fileName })),
    );
}

/** The files reachable from the package's `exports`. */
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

/** The imports of other packages by an entry of a private package and the files that it reaches. */
function importsOfEntry(entry: string): string[] {
  const files = new Set([join(root, entry)]);
  const outside: string[] = [];
  for (const file of files)
    for (const { fileName } of ts.preProcessFile(readFileSync(file, "utf8")).importedFiles)
      if (isRelative(fileName)) files.add(join(file, "..", fileName));
      else outside.push(fileName);
  return outside;
}

const nameOf = (folder: string) => (folder === "hivepace" ? folder : `@hivepace/${folder}`);
const packageOf = (specifier: string) => specifier.match(/^(@[^/]+\/[^/]+|[^@/][^/]*)/)?.[0] ?? specifier;
const isRelative = (specifier: string) => specifier.startsWith(".");

describe.each(packages.map((pkg) => [pkg.folder, pkg] as const))("%s", (folder, pkg) => {
  test("has a place in the layers", () => {
    expect(Object.keys(mayImport)).toContain(folder);
    expect(pkg.manifest.name).toBe(nameOf(folder));
  });

  const bundled = (mayBundle[folder] ?? []).map(nameOf);
  const inlined = (mayInline[folder] ?? []).map(nameOf);
  const builtIn = mayBuildIn[folder] ?? {};

  test("imports only packages below it, and in its programs also bundled packages", () => {
    const allowed = (mayImport[folder] ?? []).map(nameOf);
    const library = libraryFiles(pkg);
    const ours = imports(pkg).filter(({ specifier }) => /^(@hivepace\/|hivepace(\/|$))/.test(specifier));
    const wrong = ours.filter(({ file, specifier }) => {
      const name = packageOf(specifier);
      if (allowed.includes(name) || inlined.includes(name) || Object.hasOwn(builtIn, specifier)) return false;
      return !bundled.includes(name) || library.has(file);
    });
    expect(wrong).toEqual([]);
  });

  test.each(Object.entries(builtIn))("inlines %s, which imports no module of Node", (_, entry) => {
    expect(importsOfEntry(entry).filter((specifier) => specifier.startsWith("node:"))).toEqual([]);
  });

  if (bundled.length > 0) {
    test("has a library that reaches none of its programs", () => {
      const programs = [...libraryFiles(pkg)].filter((file) => /^src\/(programs|command|build)\//.test(file));
      expect(programs).toEqual([]);
      expect(sources(pkg).filter((file) => file.startsWith("src/programs/")).length).toBeGreaterThan(0);
    });

    test("bundles only private packages into its programs, declared as development dependencies", () => {
      const names = [...new Set(imports(pkg).map(({ specifier }) => packageOf(specifier)))];
      const inside = names.filter((name) => bundled.includes(name));
      expect(inside.filter((name) => !privatePackages.includes(name))).toEqual([]);
      const development = pkg.manifest["devDependencies"] as Record<string, string>;
      expect(inside.filter((name) => !(name in development))).toEqual([]);
    });
  }

  if (inlined.length > 0) {
    test("inlines only private packages into its library, which import only packages below both", () => {
      const development = pkg.manifest["devDependencies"] as Record<string, string>;
      expect(inlined.filter((name) => !privatePackages.includes(name) || !(name in development))).toEqual([]);
      const below = inlinedMayImport.map(nameOf);
      const ours = inlinable(mayInline[folder] ?? []).flatMap(imports);
      const wrong = ours.filter(
        ({ specifier }) => /^@?hivepace/.test(specifier) && !below.includes(packageOf(specifier)),
      );
      expect(wrong).toEqual([]);
    });
  }

  test("imports no files of other packages by path", () => {
    const outside = imports(pkg).filter(
      ({ file, specifier }) => isRelative(specifier) && !join(file, "..", specifier).startsWith("src"),
    );
    expect(outside).toEqual([]);
  });

  for (const closed of closedFolders[folder] ?? []) {
    test(`imports ${closed} only by its index.ts`, () => {
      const entering = imports(pkg)
        .filter(({ file, specifier }) => isRelative(specifier) && !file.startsWith(`${closed}/`))
        .map(({ file, specifier }) => ({ file, target: join(file, "..", specifier) }))
        .filter(({ target }) => target.startsWith(`${closed}/`));
      expect(entering.filter(({ target }) => target !== `${closed}/index.ts`)).toEqual([]);
      expect(entering.length).toBeGreaterThan(0);
    });
  }

  test("imports only declared dependencies, and declares only imported ones", () => {
    const declared = Object.keys({ ...pkg.manifest.dependencies, ...pkg.manifest.peerDependencies });
    const used = [
      ...imports(pkg).map(({ specifier }) => specifier),
      ...inlinable(mayInline[folder] ?? []).flatMap((inside) => imports(inside).map(({ specifier }) => specifier)),
      ...Object.values(builtIn).flatMap(importsOfEntry),
    ]
      .filter((specifier) => !isRelative(specifier) && !specifier.startsWith("node:"))
      .filter((specifier) => ![...bundled, ...inlined].includes(packageOf(specifier)));
    expect([...new Set(used.map(packageOf))].sort()).toEqual(declared.sort());
  });

  if (runAnywhere.includes(folder)) {
    test("depends only on packages of this workspace and has no static import of a Node module", () => {
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
