import { createRequire } from "node:module";

/** Returns the version of this package, from source and from the build. */
export function version(): string {
  const require = createRequire(import.meta.url);
  for (const up of ["../package.json", "../../package.json", "../../../package.json"]) {
    try {
      const manifest = require(up) as { name?: string; version?: string };
      if (manifest.name === "hivepace") return manifest.version ?? "";
    } catch {
      // The manifest is in a folder further up.
    }
  }
  return "unknown";
}
