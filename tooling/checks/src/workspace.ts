import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../../../", import.meta.url));

/** The files of one build of an entry. */
export interface BuiltEntry {
  readonly types: string;
  readonly default: string;
}

/** The two builds of an entry. */
export interface PublishedTarget {
  readonly import: BuiltEntry;
  readonly require: BuiltEntry;
}

/** An entry in this workspace: its source, which is not published, and its builds. */
export interface Target extends PublishedTarget {
  readonly "@hivepace/source": string;
}

export interface Manifest {
  readonly name: string;
  readonly exports: Readonly<Record<string, string | Target>>;
  readonly publishConfig: { readonly exports: Readonly<Record<string, string | PublishedTarget>> };
  readonly repository: { readonly directory: string };
  readonly dependencies?: Record<string, string>;
  readonly peerDependencies?: Record<string, string>;
  readonly [field: string]: unknown;
}

export interface Package {
  /** The folder's name, which is also the name on npm without its scope. */
  readonly folder: string;
  readonly path: string;
  readonly manifest: Manifest;
}

/** All published packages: the folders in `packages/`. */
export const packages: readonly Package[] = readdirSync(join(root, "packages"))
  .filter((folder) => existsSync(join(root, "packages", folder, "package.json")))
  .map((folder) => {
    const path = join(root, "packages", folder);
    return { folder, path, manifest: JSON.parse(readFileSync(join(path, "package.json"), "utf8")) as Manifest };
  });

/** Private packages in `tooling` that are inlined into libraries, without their test support. */
export function inlinable(folders: readonly string[]): Package[] {
  return folders.map((folder) => {
    const path = join(root, "tooling", folder);
    return { folder, path, manifest: JSON.parse(readFileSync(join(path, "package.json"), "utf8")) as Manifest };
  });
}

/** The names of unpublished packages: apps and tools. */
export const privatePackages: readonly string[] = ["apps", "tooling"].flatMap((parent) =>
  readdirSync(join(root, parent))
    .map((folder) => join(root, parent, folder, "package.json"))
    .filter((file) => existsSync(file))
    .map((file) => JSON.parse(readFileSync(file, "utf8")) as Manifest)
    .filter((manifest) => manifest["private"] === true)
    .map((manifest) => manifest.name),
);

/**
 * The files matching `kind` that git would commit: tracked files and new ones that are not ignored, in their current
 * state.
 */
export function committable(kind: RegExp): string[] {
  const listed = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], { cwd: root });
  return [...new Set(String(listed).split("\n"))].filter((file) => kind.test(file) && existsSync(join(root, file)));
}

/** The names of a package's source files, relative to its folder. */
export function sources(pkg: Package): string[] {
  return readdirSync(join(pkg.path, "src"), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .map((file) => join("src", file));
}
