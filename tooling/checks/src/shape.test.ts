import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Manifest, packages, root } from "./workspace.ts";

/** The required headings of every package's README, in this order. */
const HEADINGS = ["Install", "Use", "Guarantees", "Options", "Lifecycle", "Failure behaviour", "Errors", "See also"];

const withoutSource = (exports: Manifest["exports"]) =>
  Object.fromEntries(
    Object.entries(exports).map(([entry, target]) => {
      if (typeof target === "string") return [entry, target];
      const { "@hivepace/source": _, ...published } = target;
      return [entry, published];
    }),
  );

describe.each(packages.map((pkg) => [pkg.folder, pkg] as const))("%s", (folder, { path, manifest }) => {
  test.each(["README.md", "tsconfig.json", "src/index.ts"])("has %s", (file) => {
    expect(existsSync(join(path, file))).toBe(true);
  });

  test("has the common metadata", () => {
    expect(manifest).toMatchObject({
      description: expect.stringMatching(/\.$/),
      keywords: expect.arrayContaining(["rate-limit"]),
      homepage: `https://github.com/hivepace/hivepace/tree/main/packages/${folder}#readme`,
      bugs: "https://github.com/hivepace/hivepace/issues",
      repository: { type: "git", url: "git+https://github.com/hivepace/hivepace.git", directory: `packages/${folder}` },
      license: "MIT",
      type: "module",
      sideEffects: false,
      files: ["dist"],
      engines: { node: ">=20.19" },
      publishConfig: { access: "public", provenance: true },
      scripts: { build: "tsup --config ../../tsup.config.ts", typecheck: "tsc -p ." },
    });
    expect(manifest["scripts"]).not.toHaveProperty("postinstall");
  });

  test("has two builds of every entry, one for import and one for require, each with its own types", () => {
    for (const target of Object.values(manifest.exports)) {
      if (typeof target === "string") continue;
      const base = target.import.default.replace(/\.js$/, "");
      expect(Object.keys(target)).toEqual(["@hivepace/source", "import", "require"]);
      expect(Object.entries(target.import)).toEqual(Object.entries({ types: `${base}.d.ts`, default: `${base}.js` }));
      expect(Object.entries(target.require)).toEqual(
        Object.entries({ types: `${base}.d.cts`, default: `${base}.cjs` }),
      );
    }
  });

  test("resolves for compilers that do not read exports", () => {
    const { ".": main, ...others } = manifest.exports;
    if (typeof main !== "object") throw new Error("no main entry");
    expect(manifest).toMatchObject({ main: main.require.default, types: main.require.types });
    const typesOf = Object.entries(others).flatMap(([entry, target]) =>
      typeof target === "string" ? [] : [[entry.slice(2), [target.require.types]]],
    );
    expect(manifest["typesVersions"]).toEqual(typesOf.length === 0 ? undefined : { "*": Object.fromEntries(typesOf) });
  });

  test("publishes its exports without the source condition", () => {
    expect(manifest.publishConfig.exports).toEqual(withoutSource(manifest.exports));
    for (const target of Object.values(manifest.exports)) {
      if (typeof target === "string") continue;
      expect(existsSync(join(path, target["@hivepace/source"]))).toBe(true);
    }
  });

  test("has the same version as all other packages", () => {
    const { fixed } = JSON.parse(readFileSync(join(root, ".changeset/config.json"), "utf8")) as { fixed: string[][] };
    expect(fixed).toEqual([expect.arrayContaining([manifest.name])]);
  });

  test("uses the shared configuration", () => {
    expect(JSON.parse(readFileSync(join(path, "tsconfig.json"), "utf8"))).toEqual({
      extends: "../../tsconfig.base.json",
      include: ["src", "test"],
    });
    for (const file of ["tsup.config.ts", "vitest.config.ts", "biome.json"])
      expect(existsSync(join(path, file))).toBe(false);
  });

  test("has a README with the required headings, in order", () => {
    const readme = readFileSync(join(path, "README.md"), "utf8");
    expect(readme.split("\n")[0]).toBe(`# ${manifest.name}`);
    expect([...readme.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading)).toEqual(HEADINGS);
  });

  test("shows its use in at most 15 lines", () => {
    const readme = readFileSync(join(path, "README.md"), "utf8");
    const use = readme.split(/^## Use$/m)[1]?.match(/```ts\n([\s\S]*?)```/)?.[1] ?? "";
    const lines = use.trim().split("\n");
    expect(lines.length).toBeGreaterThan(2);
    expect(lines.length).toBeLessThanOrEqual(15);
  });
});
