import { mkdir, rename, writeFile } from "node:fs/promises";
import { isBuiltin } from "node:module";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build, type Plugin } from "esbuild";

/** Our own packages become part of the program; the brokers' clients are loaded from where our adapters find them. */
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
 * The agent as plain JavaScript: a thread cannot be given a loader on Node 20, and a swarm of processes that each compile
 * the sources would take long to start.
 */
export async function bundleAgent(): Promise<URL> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL("../agent.ts", import.meta.url))],
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20",
    conditions: ["@hivepace/source"],
    plugins: [clientsStayOutside],
    logLevel: "error",
    write: false,
  });
  const folder = new URL("../../.cache/", import.meta.url);
  await mkdir(folder, { recursive: true });
  // Whole or not at all: another run may be reading it.
  const fresh = new URL(`agent-${process.pid}-${Math.random().toString(36).slice(2)}.mjs`, folder);
  await writeFile(fresh, outputFiles[0]?.contents ?? "");
  const file = new URL("agent.mjs", folder);
  await rename(fresh, file);
  return file;
}
