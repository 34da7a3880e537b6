import { mkdir, rename, writeFile } from "node:fs/promises";
import { isBuiltin } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build, type OutputFile, type Plugin } from "esbuild";

/**
 * Bundles the workspace packages; broker clients stay external and are loaded from the location where the adapters
 * resolve them.
 */
const clientsStayOutside: Plugin = {
  name: "clients stay outside",
  setup({ onResolve, resolve }) {
    onResolve({ filter: /^[^./]/ }, async ({ path, kind, resolveDir, pluginData }) => {
      if (pluginData === "asked" || path.startsWith("@hivepace/")) return undefined;
      if (isBuiltin(path)) return { path, external: true };
      const found = await resolve(path, { kind, resolveDir, pluginData: "asked" });
      return { path: found.errors.length > 0 ? path : pathToFileURL(found.path).href, external: true };
    });
  },
};

/**
 * Bundles the agent as plain JavaScript: Node 20 cannot run a loader in a worker thread, and compiling the sources in
 * every process would make the swarm slow to start. Lazily imported modules become separate files.
 */
export async function bundleAgent(): Promise<URL> {
  const folder = new URL("../../.cache/", import.meta.url);
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL("../agent.ts", import.meta.url))],
    outdir: fileURLToPath(folder),
    outExtension: { ".js": ".mjs" },
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node20",
    conditions: ["@hivepace/source"],
    plugins: [clientsStayOutside],
    logLevel: "error",
    write: false,
  });
  await mkdir(folder, { recursive: true });
  const agent = new URL("agent.mjs", folder);
  const isAgent = ({ path }: OutputFile): boolean => path === fileURLToPath(agent);
  // The chunks must exist before the entry point that imports them; their names contain a content hash.
  await Promise.all(outputFiles.filter((file) => !isAgent(file)).map(place));
  await Promise.all(outputFiles.filter(isAgent).map(place));
  return agent;
}

/** Writes the file atomically, because another run may be reading it. */
async function place({ path, contents }: OutputFile): Promise<void> {
  const fresh = `${path}-${process.pid}-${Math.random().toString(36).slice(2)}`;
  await writeFile(fresh, contents);
  await rename(fresh, path);
}
