import { cp, mkdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { committable, packages, root } from "@hivepace/checks";
import { type RunOptions, run } from "./run.ts";

/** A copy of what git would commit, as a clone of its own in which a release may do what it does. */
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
    // What was built of the same sources need not be built again.
    await this.#pnpm("exec", "turbo", "run", "build", `--cache-dir=${join(root, ".turbo/cache")}`);
  }

  /** The versions that the changesets make, by package. */
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

  /** Provenance is signed by the workflow that publishes; there is none here. */
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
