import { createHash } from "node:crypto";
import { mkdir, rename, stat } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { withLock } from "./lock.ts";

/** The checkout's folder for downloads, ignored by git. */
const cacheRoot = fileURLToPath(new URL("../../../../.cache/servers", import.meta.url));

/**
 * Returns the folder `<root>/<name>-<hash of recipe>`, built once, also with concurrent callers. `build` fills another
 * folder that is renamed when complete, so that an existing folder is always whole.
 */
export async function cached(
  name: string,
  recipe: unknown,
  build: (folder: string) => Promise<void>,
  root = cacheRoot,
): Promise<string> {
  const hash = createHash("sha256").update(JSON.stringify(recipe)).digest("hex").slice(0, 10);
  const folder = join(root, `${name}-${hash}`);
  if (await exists(folder)) return folder;
  await mkdir(root, { recursive: true });
  await withLock(`${folder}.lock`, async (lock) => {
    if (await exists(folder)) return;
    const work = join(lock, "work");
    await mkdir(work);
    await build(work);
    await rename(work, folder);
  });
  return folder;
}

export function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
