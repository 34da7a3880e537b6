import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

/** Written out, so that bundlers see them and leave them where they are. */
const BESIDE: Readonly<Record<string, () => Promise<unknown>>> = {
  "@hivepace/bus-nats": () => import("@hivepace/bus-nats"),
  "@hivepace/bus-redis-pubsub": () => import("@hivepace/bus-redis-pubsub"),
  "@hivepace/bus-kafka": () => import("@hivepace/bus-kafka"),
  "@hivepace/sync-redis": () => import("@hivepace/sync-redis"),
  ioredis: () => import("ioredis"),
};

/**
 * What is installed beside this module; else what the program in the working directory has. A command that was only
 * fetched to be run stands in a folder of its own, far from the adapters of the project that it is about.
 */
export async function loadAdapter(name: string, folder: string = process.cwd()): Promise<unknown> {
  try {
    return await (BESIDE[name]?.() ?? import(name));
  } catch (error) {
    const file = isMissing(error, name) ? fileFrom(folder, name) : undefined;
    if (file === undefined) throw error;
    return import(pathToFileURL(file).href);
  }
}

/** It itself, not something that it imports in turn. */
export function isMissing(error: unknown, name: string): boolean {
  const { code, message } = error as { code?: unknown; message?: unknown };
  return /MODULE_NOT_FOUND$/.test(String(code)) && String(message).includes(`'${name}'`);
}

/** Where a file of a package is, as a program in that folder would find it; undefined where there is none. */
export function fileFrom(folder: string, name: string): string | undefined {
  try {
    return createRequire(join(folder, "package.json")).resolve(name);
  } catch {
    return undefined;
  }
}
