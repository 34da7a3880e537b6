import { readFile } from "node:fs/promises";

/** The files of the page by their paths. */
export type Page = ReadonlyMap<string, { readonly type: string; readonly body: Buffer }>;

/** The folder of the files that `buildPage` writes, next to the code of a published package. */
export const PAGE_FOLDER = "dashboard-page";

export const PAGE_FILES = [
  { name: "index.html", path: "/", type: "text/html; charset=utf-8" },
  { name: "page.js", path: "/page.js", type: "text/javascript; charset=utf-8" },
  { name: "page.css", path: "/page.css", type: "text/css; charset=utf-8" },
  { name: "icon.svg", path: "/icon.svg", type: "image/svg+xml" },
] as const;

/** Loads the built files of a published package, or builds the page from source in the repository. */
export async function loadPage(): Promise<Page> {
  const built = await readBuilt(new URL(`./${PAGE_FOLDER}/`, import.meta.url));
  const contents = built ?? (await buildFromSource());
  return new Map(
    PAGE_FILES.map(({ name, path, type }) => {
      const body = contents.get(name);
      if (body === undefined) throw new Error(`the page has no ${name}`);
      return [path, { type, body: Buffer.from(body) }];
    }),
  );
}

async function readBuilt(folder: URL): Promise<ReadonlyMap<string, Uint8Array> | undefined> {
  try {
    const files = PAGE_FILES.map(async ({ name }) => [name, await readFile(new URL(name, folder))] as const);
    return new Map(await Promise.all(files));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/**
 * Imports the builder by a computed URL, which bundlers do not follow: a published package contains the built files,
 * but neither the sources of the page nor esbuild.
 */
async function buildFromSource(): Promise<ReadonlyMap<string, Uint8Array>> {
  const builder = new URL("./build-page.ts", import.meta.url).href;
  const { pageContents } = (await import(builder)) as typeof import("./build-page.ts");
  return pageContents();
}
