import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { build, type Plugin } from "esbuild";

/** Bundles only packages of this workspace, from their source. */
const clientsAreExternal: Plugin = {
  name: "clients-are-external",
  setup({ onResolve }) {
    onResolve({ filter: /^[^./]/ }, ({ path, kind }) =>
      kind === "entry-point" || /^(@hivepace\/|hivepace$)/.test(path) ? undefined : { path, external: true },
    );
  },
};

/**
 * Bundles a program as JavaScript, from which worker threads can start too. Clients are loaded as a user's program
 * loads them.
 */
export async function bundled(file: URL): Promise<string> {
  const outfile = fileURLToPath(new URL(`../../.cache/${basename(file.pathname, ".ts")}.mjs`, import.meta.url));
  await build({
    entryPoints: [fileURLToPath(file)],
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

/** Returns the expected output from the comment at the end of the file. */
export function expectedOutput(file: URL): string | undefined {
  return readFileSync(file, "utf8").match(/\/\* Output:\n([\s\S]*?)\n?\*\//)?.[1];
}

export async function outputOf(file: URL, env: Readonly<Record<string, string>> = {}): Promise<string> {
  const options = { env: { ...process.env, ...env } };
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [await bundled(file)], options);
  if (stderr !== "") throw new Error(`an example must not need a warning: ${stderr}`);
  return stdout.trimEnd();
}
