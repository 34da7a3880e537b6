import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build, type Plugin } from "esbuild";

/** A module with replaced exports, to show that the originals matter. */
export interface Replacement {
  /** The module's file. */
  readonly file: string;
  /** The replaced exports, made from the original ones. */
  readonly exports: (original: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>;
}

/**
 * Loads a fresh copy of a TypeScript module and its imports, in which the exports of one module are replaced for all
 * importers. Calls within that module still reach the original.
 */
export async function withReplacement<Module>(entry: string, replacement?: Replacement): Promise<Module> {
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    format: "esm",
    platform: "node",
    target: "node20",
    conditions: ["@hivepace/source"],
    plugins: replacement ? [replacing(replacement.file)] : [],
    logLevel: "silent",
  });
  const folder = await mkdtemp(join(tmpdir(), "hivepace-bundle-"));
  try {
    const file = join(folder, "bundle.mjs");
    await writeFile(file, outputFiles[0]?.contents ?? "");
    shared[KEY] = replacement && ((original) => checked(replacement, original));
    return (await import(pathToFileURL(file).href)) as Module;
  } finally {
    delete shared[KEY];
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Returns the replaced exports. Throws for a name that the module does not export, because nothing would be replaced.
 */
function checked({ file, exports }: Replacement, original: Readonly<Record<string, unknown>>) {
  const replaced = exports(original);
  for (const name of Object.keys(replaced))
    if (!(name in original)) throw new Error(`${file} does not export ${name}: nothing would be replaced`);
  return replaced;
}

/** The global key under which the bundle finds the replacing function while it is loaded. */
const KEY = "@hivepace/verify replacement";
const shared = globalThis as { [KEY]?: Replacement["exports"] | undefined };
const ORIGINAL = "?original";

/** Inserts a module before the file that takes every export from the replacement, if present, or else from the file. */
function replacing(file: string): Plugin {
  return {
    name: "replacing",
    setup(builder) {
      builder.onResolve({ filter: /\?original$/ }, ({ path }) => ({
        path: path.slice(0, -ORIGINAL.length),
        suffix: ORIGINAL,
      }));
      builder.onLoad({ filter: /\.ts$/ }, async ({ path, suffix }) => {
        if (path !== file || suffix === ORIGINAL) return undefined;
        const names = await exportsOf(file);
        const lines = [
          `import * as original from ${JSON.stringify(file + ORIGINAL)};`,
          `const all = { ...original, ...globalThis[${JSON.stringify(KEY)}](original) };`,
          ...names.map((name) => `export const ${name} = all.${name};`),
        ];
        return { contents: lines.join("\n"), loader: "js" };
      });
    },
  };
}

/** The names of a module's run-time exports. */
async function exportsOf(file: string): Promise<string[]> {
  const { metafile } = await build({
    entryPoints: [file],
    bundle: true,
    write: false,
    metafile: true,
    format: "esm",
    platform: "node",
    outdir: "out",
    conditions: ["@hivepace/source"],
    logLevel: "silent",
  });
  return Object.values(metafile.outputs)[0]?.exports ?? [];
}
