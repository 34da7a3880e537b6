import { cp, mkdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { committable, packages, root } from "@hivepace/checks";
import { type RunOptions, run } from "./run.ts";

/** A separate clone of the files that git would commit, in which a release can run without touching this checkout. */
export class Checkout {
  readonly folder: string;
  readonly #env: RunOptions["env"];

  constructor(folder: string, env: RunOptions["env"]) {
    this.folder = folder;
    this.#env = env;
  }

  async make(): Promise<void> {
    for (const file of committable(/./)) {
      await mkdir(dirname(join(this.folder, file)), { recursive: true });
      await cp(join(root, file), join(this.folder, file));
    }
    await this.#run("git", ["init", "--quiet", "--initial-branch=main"]);
    await this.#run("git", ["add", "--all"]);
    const author = ["-c", "user.name=rehearsal", "-c", "user.email=rehearsal@localhost"];
    await this.#run("git", [...author, "commit", "--quiet", "--message=as it is"]);
    await this.#pnpm("install", "--frozen-lockfile", "--prefer-offline");
  }

  async build(): Promise<void> {
    // Shares turbo's cache, so that unchanged sources are not built again.
    await this.#pnpm("exec", "turbo", "run", "build", `--cache-dir=${join(root, ".turbo/cache")}`);
  }

  /** Applies the changesets and returns the resulting versions by package. */
  async version(): Promise<Map<string, string>> {
    await this.#pnpm("run", "release:version");
    const versions = new Map<string, string>();
    for (const { folder } of packages) {
      const { name, version } = JSON.parse(
        await readFile(join(this.folder, "packages", folder, "package.json"), "utf8"),
      ) as { name: string; version: string };
      versions.set(name, version);
    }
    return versions;
  }

  /** Without provenance, which only the publishing workflow can sign. */
  async publish(): Promise<void> {
    await this.#pnpm("exec", "changeset", "publish", "--no-git-tag");
  }

  #pnpm(...args: readonly string[]): Promise<string> {
    return this.#run("npx", ["-y", "pnpm@12.18.0", ...args]);
  }

  #run(command: string, args: readonly string[]): Promise<string> {
    return run(command, args, { cwd: this.folder, env: { ...this.#env, CI: "true", NPM_CONFIG_PROVENANCE: "false" } });
  }
}
