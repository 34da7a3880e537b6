import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const folder = new URL("./page/", import.meta.url);
const NOTICE = "/* Contains uPlot, (c) Leon Sorokin, MIT licence, https://github.com/leeoniya/uPlot */";

/** Writes the page's files to this folder, for a package that publishes the dashboard. */
export async function buildPage(outDir: string): Promise<void> {
  await mkdir(outDir, { recursive: true });
  for (const [name, body] of await pageContents()) await writeFile(join(outDir, name), body);
}

/** Returns the page's files by their names: one script, one style sheet, and the files that need no build. */
export async function pageContents(): Promise<ReadonlyMap<string, Uint8Array>> {
  const { outputFiles } = await build({
    entryPoints: [
      { in: fileURLToPath(new URL("main.ts", folder)), out: "page" },
      { in: fileURLToPath(new URL("styles/page.css", folder)), out: "page" },
    ],
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2022",
    banner: { js: NOTICE, css: NOTICE },
    outdir: "page",
    write: false,
    logLevel: "silent",
  });
  const bundled = outputFiles.map(({ path, contents }) => [path.endsWith(".css") ? "page.css" : "page.js", contents]);
  const plain = ["index.html", "icon.svg"].map(async (name) => [name, await readFile(new URL(name, folder))]);
  return new Map([...bundled, ...(await Promise.all(plain))] as [string, Uint8Array][]);
}
