import { join } from "node:path";
import { packages } from "./workspace.ts";

export interface Entry {
  /** As it is imported: `@hivepace/core/testing`. */
  readonly name: string;
  /** The path of its source. */
  readonly source: string;
}

/** Everything that users may import. `internal` is for our own packages and promises nothing to anyone else. */
export const publicEntries: readonly Entry[] = packages.flatMap(({ manifest, path }) =>
  Object.entries(manifest.exports).flatMap(([entry, target]) =>
    typeof target === "string" || entry === "./internal"
      ? []
      : [{ name: manifest.name + entry.slice(1), source: join(path, String(target["@hivepace/source"])) }],
  ),
);
