import { readdirSync } from "node:fs";
import { join } from "node:path";

const SKIPPED = new Set(["node_modules", "dist"]);

/**
 * Returns every file below the folder with this suffix, sorted. Dependencies, builds and hidden folders are skipped.
 */
export function filesBelow(folder: string, suffix: string): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isFile()) return entry.name.endsWith(suffix) ? [path] : [];
      const isSearched = entry.isDirectory() && !SKIPPED.has(entry.name) && !entry.name.startsWith(".");
      return isSearched ? filesBelow(path, suffix) : [];
    })
    .sort();
}
