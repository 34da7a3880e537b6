import { mkdtemp, readdir, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { root } from "./folders.ts";
import { run } from "./run.ts";

/** The broker clients, which users install beside the packages. */
const CLIENTS = ["@nats-io/transport-node", "ioredis", "nats"] as const;

/** The programs of `src/smoke`; `counting-thread` is started by `main`. */
const PROGRAMS = ["main", "left-open", "counting-thread"] as const;

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/**
 * Creates a project like a user's: the packages built and packed as for a release, installed with npm, and the smoke
 * programs as plain JavaScript. The project is outside of the checkout, whose `node_modules` would hide an undeclared
 * dependency. Returns the folder, which the caller removes.
 */
export async function makeConsumerProject(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "hivepace-runtimes-"));
  const pnpm = (...args: string[]) => run("npx", ["-y", "pnpm@12.18.0", ...args], { cwd: root });
  await pnpm("exec", "turbo", "run", "build");
  await pnpm("--filter", "./packages/*", "pack", "--pack-destination", folder);

  const packed = (await readdir(folder)).filter((file) => file.endsWith(".tgz"));
  await writeFile(join(folder, "package.json"), JSON.stringify({ name: "consumer", private: true, type: "module" }));
  const quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock"];
  await run("npm", ["install", ...quiet, ...packed.map((file) => `./${file}`), ...(await clients())], { cwd: folder });

  await build({
    entryPoints: PROGRAMS.map((name) => here(`smoke/${name}.ts`)),
    outdir: folder,
    outExtension: { ".js": ".mjs" },
    bundle: true,
    // Bundles only the files of the smoke program: each runtime resolves the packages by itself.
    packages: "external",
    format: "esm",
    platform: "node",
    target: "node20",
  });
  return folder;
}

/** The clients, in the versions with which this package is checked. */
async function clients(): Promise<string[]> {
  const manifest = JSON.parse(await readFile(here("../package.json"), "utf8")) as {
    devDependencies: Record<(typeof CLIENTS)[number], string>;
  };
  return CLIENTS.map((name) => `${name}@${manifest.devDependencies[name]}`);
}
