import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { constants, gzip } from "node:zlib";
import { build } from "esbuild";
import type { Row } from "../row.ts";
import { spreadOf } from "../statistics.ts";
import type { FreeSuite } from "../suite.ts";

const ours = "@hivepace/core";
const WANTED_BYTES = 8_000;

/** The size of `import "package"` with all its dependencies: bundled from the published files, minified, gzipped. */
async function gzippedBytes(name: string): Promise<number> {
  const { outputFiles } = await build({
    entryPoints: [name],
    absWorkingDir: fileURLToPath(new URL("..", import.meta.url)),
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
    for (const what of ["limiter", "rate-limiter-flexible", "bottleneck", "p-ratelimit", "p-throttle"]) {
      const other = await gzippedBytes(what);
      rows.push({ what, value: other, unit: "bytes", against: ours, ratio: spreadOf([other / value]) });
    }
    rows.push({ what: ours, value, unit: "bytes", wanted: { of: "value", direction: "at most", limit: WANTED_BYTES } });
    return rows;
  },
};
