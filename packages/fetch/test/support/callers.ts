import { fileURLToPath } from "node:url";
import { build } from "esbuild";

/** A program of calls beside these tests, as plain JavaScript, which starts many times faster than through a loader. */
export async function bundledCallers(name: string): Promise<string> {
  const file = (path: string) => fileURLToPath(new URL(path, import.meta.url));
  const outfile = file(`../../.cache/${name}.mjs`);
  await build({
    entryPoints: [file(`../${name}.worker.ts`)],
    outfile,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20",
    conditions: ["@hivepace/source"],
    external: ["openai", "@anthropic-ai/sdk", "@nats-io/*", "nats"],
    logLevel: "error",
  });
  return outfile;
}
