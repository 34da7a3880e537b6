import { isBuiltin } from "node:module";
import { fileURLToPath } from "node:url";
import { build, type Plugin } from "esbuild";

/**
 * Bundles the packages of this workspace into the program, and leaves the brokers' clients to be loaded from the
 * adapters' folders.
 */
const clientsAreExternal: Plugin = {
  name: "clients are external",
  setup({ onResolve, resolve }) {
    onResolve({ filter: /^[^./]/ }, async ({ path, kind, resolveDir, pluginData }) => {
      if (pluginData === "asked" || path.startsWith("@hivepace/")) return undefined;
      if (isBuiltin(path)) return { path, external: true };
      const found = await resolve(path, { kind, resolveDir, pluginData: "asked" });
      // An adapter can work without a client that is not installed.
      return { path: found.errors.length > 0 ? path : found.path, external: true };
    });
  },
};

/** Bundles a program beside these tests into plain JavaScript, which starts many times faster than through a loader. */
export function bundled(name: string): Promise<string> {
  return bundledFile(new URL(`../programs/${name}.ts`, import.meta.url), name);
}

/** Like `bundled`, for a program in any folder. */
export async function bundledFile(entry: URL, name: string): Promise<string> {
  const outfile = fileURLToPath(new URL(`../../.cache/${name}.mjs`, import.meta.url));
  await build({
    entryPoints: [fileURLToPath(entry)],
    outfile,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20",
    conditions: ["@hivepace/source"],
    plugins: [clientsAreExternal],
    logLevel: "error",
  });
  return outfile;
}
