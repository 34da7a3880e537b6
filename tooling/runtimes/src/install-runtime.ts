import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { cache } from "./folders.ts";
import { platformPackage } from "./platform-package.ts";
import { run } from "./run.ts";
import type { Runtime } from "./runtimes.ts";

/** Returns the path of the runtime's program, downloading it into the cache folder if necessary. */
export async function installRuntime(runtime: Runtime): Promise<string> {
  const { kind, version } = runtime;
  const { name, program } = platformPackage(kind, process.platform, process.arch);
  const folder = join(cache, `${kind}-${version}`);
  const path = join(folder, "node_modules", name, program);
  if (!existsSync(path)) {
    await mkdir(cache, { recursive: true });
    // A temporary folder is renamed to the final one in a single step, so that an interrupted download leaves nothing
    // behind.
    const own = await mkdtemp(`${folder}.`);
    try {
      const quiet = ["--ignore-scripts", "--no-save", "--no-audit", "--no-fund"];
      await run("npm", ["install", "--prefix", own, ...quiet, `${name}@${version}`], { cwd: own });
      await chmod(join(own, "node_modules", name, program), 0o755);
      await rename(own, folder).catch((error: NodeJS.ErrnoException) => {
        // A concurrent run has installed the runtime first.
        if (!existsSync(path)) throw error;
      });
    } finally {
      await rm(own, { recursive: true, force: true });
    }
  }
  const printed = await run(path, ["--version"], { cwd: folder });
  if (!printed.includes(version)) throw new Error(`${path} should be ${version} and says ${printed.trim()}`);
  return path;
}
