import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { packages, root } from "./workspace.ts";

/** The headings of every package's README, in this order. */
const HEADINGS = ["Install", "Use", "Promises", "Options", "Who closes", "When it is away", "Errors", "See also"];

const withoutSource = (exports: Record<string, string | Record<string, string>>) =>
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

  test("carries the metadata that all packages carry", () => {
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
    expect(manifest).not.toHaveProperty("main");
  });

  test("publishes what it exports, without the way to its source", () => {
    expect(manifest.publishConfig.exports).toEqual(withoutSource(manifest.exports));
    for (const target of Object.values(manifest.exports)) {
      if (typeof target === "string") continue;
      expect(Object.keys(target)).toEqual(["@hivepace/source", "types", "default"]);
      expect(existsSync(join(path, String(target["@hivepace/source"])))).toBe(true);
    }
  });

  test("is released with all others, in one version", () => {
    const { fixed } = JSON.parse(readFileSync(join(root, ".changeset/config.json"), "utf8")) as { fixed: string[][] };
    expect(fixed).toEqual([expect.arrayContaining([manifest.name])]);
  });

  test("has the configuration of all and none of its own", () => {
    expect(JSON.parse(readFileSync(join(path, "tsconfig.json"), "utf8"))).toEqual({
      extends: "../../tsconfig.base.json",
      include: ["src", "test"],
    });
    for (const file of ["tsup.config.ts", "vitest.config.ts", "biome.json"])
      expect(existsSync(join(path, file))).toBe(false);
  });

  test("has a README with the headings of all, in their order", () => {
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
