import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { constants, gzip } from "node:zlib";
import { build } from "esbuild";
import type { Row } from "../row.ts";
import { spreadOf } from "../statistics.ts";
import type { FreeSuite } from "../suite.ts";

const ours = "@hivepace/core";
const limiter = "@hivepace/core, MemoryLimiter alone";
const MOST_BYTES = 13_500;
const MOST_BYTES_LIMITER = 4_200;

/**
 * The size of a package with all its dependencies, or of one export of it: bundled from the published files, minified,
 * gzipped.
 */
async function gzippedBytes(name: string, only?: string): Promise<number> {
  const folder = fileURLToPath(new URL("..", import.meta.url));
  const { outputFiles } = await build({
    ...(only === undefined
      ? { entryPoints: [name] }
      : { stdin: { contents: `export { ${only} } from ${JSON.stringify(name)};`, resolveDir: folder } }),
    absWorkingDir: folder,
    bundle: true,
    minify: true,
    write: false,
    format: "esm",
    platform: "node",
    target: "node20",
    logLevel: "error",
  });
  const code = outputFiles[0]?.contents ?? new Uint8Array();
  return (await promisify(gzip)(code, { level: constants.Z_BEST_COMPRESSION })).length;
}

export const size: FreeSuite = {
  kind: "free",
  name: "size",
  title: "The whole package, bundled, minified and gzipped.",
  async measure() {
    const value = await gzippedBytes(ours);
    const rows: Row[] = [{ what: ours, value, unit: "bytes" }];
    for (const what of ["limiter", "rate-limiter-flexible", "bottleneck", "p-ratelimit", "p-throttle", "p-queue"]) {
      const other = await gzippedBytes(what);
      rows.push({ what, value: other, unit: "bytes", against: ours, ratio: spreadOf([other / value]) });
    }
    const claim = (what: string, bytes: number, most: number): Row => {
      return { what, value: bytes, unit: "bytes", wanted: { of: "value", direction: "at most", limit: most } };
    };
    rows.push(claim(ours, value, MOST_BYTES));
    rows.push(claim(limiter, await gzippedBytes(ours, "MemoryLimiter"), MOST_BYTES_LIMITER));
    return rows;
  },
};
