import { isBuiltin } from "node:module";
import { fileURLToPath } from "node:url";
import { build, type Plugin } from "esbuild";

/** Our own packages become part of the program; the brokers' clients are loaded from where our adapters find them. */
const clientsAreExternal: Plugin = {
  name: "clients are external",
  setup({ onResolve, resolve }) {
    onResolve({ filter: /^[^./]/ }, async ({ path, kind, resolveDir, pluginData }) => {
      if (pluginData === "asked" || path.startsWith("@hivepace/")) return undefined;
      if (isBuiltin(path)) return { path, external: true };
      const found = await resolve(path, { kind, resolveDir, pluginData: "asked" });
      // A client that is not installed is one that the adapter can do without.
      return { path: found.errors.length > 0 ? path : found.path, external: true };
    });
  },
};

/** A program beside these tests as plain JavaScript, which starts many times faster than through a loader. */
export function bundled(name: string): Promise<string> {
  return bundledFile(new URL(`../programs/${name}.ts`, import.meta.url), name);
}

/** The same for a program anywhere. */
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
