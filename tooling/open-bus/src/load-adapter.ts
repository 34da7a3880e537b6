import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { importAdapter, isMissing } from "./import-adapter.ts";

/**
 * Loads a package installed beside this module, or else the one of the project in the working directory. A command run
 * through `npx` is in a folder of its own, far from the adapters of the project.
 */
export async function loadAdapter(name: string, folder: string = process.cwd()): Promise<unknown> {
  try {
    return await (name === "ioredis" ? import("ioredis") : importAdapter(name));
  } catch (error) {
    const file = isMissing(error, name) ? fileFrom(folder, name) : undefined;
    if (file === undefined) throw error;
    return import(pathToFileURL(file).href);
  }
}

/** Returns the file that a program in the folder would load for a package, or `undefined` if there is none. */
export function fileFrom(folder: string, name: string): string | undefined {
  try {
    return createRequire(join(folder, "package.json")).resolve(name);
  } catch {
    return undefined;
  }
}
