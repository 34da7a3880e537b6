import { cpSync, existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vitepress";

const site = fileURLToPath(new URL("..", import.meta.url));
const repository = join(site, "../..");

/**
 * Builds the documentation into `outDir`, with `llms.txt` and, if it was generated, the API reference.
 *
 * @throws when a page has a dead link
 */
export async function buildSite(outDir: string): Promise<void> {
  await build(site, { outDir });
  cpSync(join(repository, "llms.txt"), join(outDir, "llms.txt"));
  const reference = join(repository, "docs/api");
  if (existsSync(reference)) cpSync(reference, join(outDir, "api"), { recursive: true });
}
