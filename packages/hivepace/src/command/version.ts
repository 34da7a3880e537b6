import { createRequire } from "node:module";

/** Of this package: the same at every place from which it runs. */
export function version(): string {
  const require = createRequire(import.meta.url);
  for (const up of ["../package.json", "../../package.json", "../../../package.json"]) {
    try {
      const manifest = require(up) as { name?: string; version?: string };
      if (manifest.name === "hivepace") return manifest.version ?? "";
    } catch {
      // Not here: one folder up.
    }
  }
  return "unknown";
}
