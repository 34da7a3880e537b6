import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { NotHereError } from "../errors.ts";
import { cached } from "./cache.ts";
import { run } from "./run.ts";
import { which } from "./which.ts";

export interface DebianRecipe {
  readonly name: string;
  readonly packages: readonly string[];
  /** Libraries among the dependencies that the program never loads. */
  readonly without?: readonly string[];
  /**
   * A command that runs once in the new tree, to prove that no library is missing. The path is relative to the tree.
   */
  readonly check: readonly [file: string, ...args: string[]];
}

export interface DebianTree {
  readonly root: string;
  readonly env: { readonly LD_LIBRARY_PATH: string };
}

/**
 * Unpacks Debian packages and their libraries into the cache folder with the system's `apt-get`, using separate lists
 * and state: nothing is installed and root is not needed. Hooks that the system has configured for every update still
 * run; Docker's images have one that empties apt's own download cache.
 */
export async function debianTree(recipe: DebianRecipe): Promise<DebianTree> {
  const release = /^VERSION_ID=.*$/m.exec(await readFile("/etc/os-release", "utf8").catch(() => ""))?.[0];
  try {
    const folder = await cached(recipe.name, { recipe, release, arch: process.arch }, (work) => build(work, recipe));
    return await openTree(folder);
  } catch (error) {
    throw new NotHereError(`Debian's packages: ${(error as Error).message}`);
  }
}

async function build(folder: string, recipe: DebianRecipe): Promise<void> {
  await Promise.all(["apt-get", "dpkg-deb"].map((tool) => which(tool)));
  console.error(`[servers] fetching Debian's ${recipe.packages.join(", ")} into the cache folder, once`);
  const apt = join(folder, "apt");
  const debs = join(folder, "debs");
  await Promise.all([`${apt}/lists/partial`, `${apt}/cache/archives/partial`, debs].map((dir) => makeFolder(dir)));
  // An empty status file, so that the downloads do not depend on the packages installed on this machine.
  await writeFile(join(apt, "status"), "");
  const options = aptOptions(apt);
  await run("apt-get", [...options, "update"]);
  const plan = await run("apt-get", [...options, "--simulate", "install", ...recipe.packages]);
  await run("apt-get", [...options, "download", ...selectPackages(plan, recipe)], { cwd: debs });
  for (const deb of await readdir(debs)) await run("dpkg-deb", ["-x", join(debs, deb), join(folder, "root")]);
  await Promise.all([apt, debs].map((dir) => rm(dir, { recursive: true })));

  await writeFile(join(folder, "libraries.json"), JSON.stringify(await libraryFolders(join(folder, "root"))));
  const { root, env } = await openTree(folder);
  const [file, ...args] = recipe.check;
  await run(join(root, file), args, { env, timeoutMs: 30_000 });
}

export function aptOptions(apt: string): string[] {
  const settings = {
    "Dir::State::Lists": join(apt, "lists"),
    "Dir::State::status": join(apt, "status"),
    "Dir::Cache": join(apt, "cache"),
    "Debug::NoLocking": "true",
    "APT::Sandbox::User": "root",
    "APT::Install-Recommends": "false",
    "Acquire::Languages": "none",
    "Acquire::Retries": "2",
    "Acquire::http::Timeout": "30",
  };
  return ["-q", "-y", ...Object.entries(settings).flatMap(([name, value]) => ["-o", `${name}=${value}`])];
}

/**
 * Selects the requested packages and libraries from a plan for a bare system. The C library is left out: it must be
 * that of the system's own dynamic linker.
 */
export function selectPackages(plan: string, { packages, without = [] }: DebianRecipe): string[] {
  const planned = [...plan.matchAll(/^Inst (\S+)/gm)].flatMap(([, name]) => (name === undefined ? [] : [name]));
  return planned.filter(
    (name) => packages.includes(name) || (/^z?lib/.test(name) && name !== "libc6" && !without.includes(name)),
  );
}

/**
 * Returns every folder with shared libraries, because some are outside of the standard folders and found only by
 * absolute paths.
 */
async function libraryFolders(root: string): Promise<string[]> {
  const files = await readdir(root, { recursive: true, withFileTypes: true });
  const libraries = files.filter(({ name }) => /^lib.*\.so(\.|$)/.test(name));
  const folders = libraries.map((file) => relative(root, join(file.parentPath, file.name)));
  return [...new Set(folders.map((file) => dirname(file)))].sort();
}

async function openTree(folder: string): Promise<DebianTree> {
  const root = join(folder, "root");
  const folders = JSON.parse(await readFile(join(folder, "libraries.json"), "utf8")) as string[];
  return { root, env: { LD_LIBRARY_PATH: folders.map((dir) => join(root, dir)).join(":") } };
}

async function makeFolder(dir: string): Promise<void> {
  await mkdir(dir, { recursive: true });
}
