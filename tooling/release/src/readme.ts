import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Package } from "@hivepace/checks";

/** The first steps in a package's README. */
export interface Readme {
  /** All packages named in the first `npm install` line. */
  readonly installs: readonly string[];
  /** The first program under "Use". */
  readonly example: string;
  /** The packages that this program imports. */
  readonly imports: readonly string[];
}

export function readmeOf(pkg: Package): Readme {
  const text = readFileSync(join(pkg.path, "README.md"), "utf8");
  const [, line = ""] = /^## Install$[\s\S]*?^npm install ([^#\n]+)/m.exec(text) ?? [];
  const [, example = ""] = /^## Use$[\s\S]*?^```ts\n([\s\S]*?)^```$/m.exec(text) ?? [];
  const imports = [...example.matchAll(/\bfrom "([^"]+)"/g)].map(([, name = ""]) => packageName(name));
  return { installs: line.trim().split(/\s+/).filter(Boolean), example, imports: [...new Set(imports)] };
}

/** Removes the entry: `@hivepace/core/testing` belongs to `@hivepace/core`. */
function packageName(specifier: string): string {
  return specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/");
}
