import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { root } from "@hivepace/checks";
import { transform } from "esbuild";
import { type RunOptions, run } from "./run.ts";

export type Manager = "npm" | "pnpm";

/** An empty project of somebody who has never seen this repository. */
export class Stranger {
  readonly folder: string;
  readonly #manager: Manager;
  readonly #env: RunOptions["env"];

  constructor(folder: string, manager: Manager, env: RunOptions["env"]) {
    this.folder = folder;
    this.#manager = manager;
    this.#env = env;
  }

  async install(names: readonly string[]): Promise<void> {
    await mkdir(this.folder, { recursive: true });
    await this.write("package.json", JSON.stringify({ name: "stranger", version: "1.0.0", private: true }));
    if (this.#manager === "npm") await this.#run("npm", ["install", "--no-audit", "--no-fund", ...names]);
    // Ours are minutes old, and a reader's would not be.
    else await this.#run("npx", ["-y", "pnpm@12.18.0", "add", "--config.minimumReleaseAge=0", ...names]);
  }

  async write(file: string, text: string): Promise<void> {
    await writeFile(join(this.folder, file), text);
  }

  /** What a program prints. As a module, or as CommonJS when its name says so. */
  async node(file: string, program: string): Promise<string> {
    await this.write(file, program);
    return this.#run(process.execPath, [file]);
  }

  /** The same for TypeScript. */
  async typescript(file: string, program: string): Promise<string> {
    const { code } = await transform(program, { loader: "ts", format: "esm", target: "node20" });
    return this.node(file, code);
  }

  /** Rejects with what the compiler says. */
  async typecheck(program: string, moduleResolution: "node16" | "nodenext" | "bundler"): Promise<void> {
    const module = moduleResolution === "bundler" ? "preserve" : moduleResolution;
    // With Node's types, as a program on Node has them: what others' types need must be there.
    const types = { types: ["node"], lib: ["es2023"], skipLibCheck: false };
    const compilerOptions = { strict: true, noEmit: true, target: "es2023", module, moduleResolution, ...types };
    await this.write(`${moduleResolution}.mts`, program);
    await this.write("tsconfig.json", JSON.stringify({ compilerOptions, files: [`${moduleResolution}.mts`] }));
    await this.#run(join(root, "node_modules/.bin/tsc"), ["-p", "tsconfig.json"]);
  }

  #run(command: string, args: readonly string[]): Promise<string> {
    return run(command, args, { cwd: this.folder, env: this.#env });
  }
}
