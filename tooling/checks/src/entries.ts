import { join } from "node:path";
import { packages } from "./workspace.ts";

export interface Entry {
  /** The import specifier: `@hivepace/core/testing`. */
  readonly name: string;
  /** The path of the source file. */
  readonly source: string;
}

/**
 * Every entry that users may import. `internal` entries are only for the packages of this workspace and promise no
 * stability.
 */
export const publicEntries: readonly Entry[] = packages.flatMap(({ manifest, path }) =>
  Object.entries(manifest.exports).flatMap(([entry, target]) =>
    typeof target === "string" || entry === "./internal"
      ? []
      : [{ name: manifest.name + entry.slice(1), source: join(path, target["@hivepace/source"]) }],
  ),
);
