import { mkdir, mkdtemp, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { root } from "@hivepace/checks";
import { build, transform } from "esbuild";
import { type RunOptions, run } from "./run.ts";
import type { Shape } from "./shapes.ts";

export type Manager = "npm" | "pnpm";

/** An empty project of a new user, outside this repository. */
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
    // Disables pnpm's minimum age, because these packages were published minutes ago.
    else await this.#run("npx", ["-y", "pnpm@12.18.0", "add", "--config.minimumReleaseAge=0", ...names]);
  }

  async write(file: string, text: string): Promise<void> {
    await writeFile(join(this.folder, file), text);
  }

  /** Runs a program and resolves with its output. The file extension selects ES modules or CommonJS. */
  async node(file: string, program: string): Promise<string> {
    await this.write(file, program);
    return this.#run(process.execPath, [file]);
  }

  /** Like `node`, for TypeScript. */
  async typescript(file: string, program: string): Promise<string> {
    const { code } = await transform(program, { loader: "ts", format: "esm", target: "node20" });
    return this.node(file, code);
  }

  /** Rejects with the compiler's output. */
  async typecheck(program: string, moduleResolution: "node16" | "nodenext" | "bundler"): Promise<void> {
    const module = moduleResolution === "bundler" ? "preserve" : moduleResolution;
    // With Node's types, as an application on Node has them, and without skipping library checks: types of dependencies
    // must resolve.
    const types = { types: ["node"], lib: ["es2023"], skipLibCheck: false };
    const compilerOptions = { strict: true, noEmit: true, target: "es2023", module, moduleResolution, ...types };
    await this.write(`${moduleResolution}.mts`, program);
    await this.write("tsconfig.json", JSON.stringify({ compilerOptions, files: [`${moduleResolution}.mts`] }));
    await this.#run(join(root, "node_modules/.bin/tsc"), ["-p", "tsconfig.json"]);
  }

  /** Compiles a program in a nested project and runs it with this Node. Resolves with its output. */
  async compiled(shape: Omit<Shape, "name">, program: string, node = process.execPath): Promise<string> {
    const folder = await mkdtemp(join(this.folder, "shape-"));
    const types = { types: ["node"], lib: ["es2023"], skipLibCheck: false };
    const compilerOptions = { strict: true, target: "es2022", rootDir: ".", outDir: "out", ...types, ...shape.options };
    await writeFile(join(folder, "package.json"), JSON.stringify({ type: shape.type }));
    await writeFile(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["program.ts"] }));
    await writeFile(join(folder, "program.ts"), program);
    await this.#run(join(root, "node_modules/.bin", shape.compiler), ["-p", folder]);
    return this.#run(node, [join(folder, "out/program.js")]);
  }

  /**
   * Bundles a program into one file, as for a serverless function, and runs it. Packages that are missing stay
   * external.
   */
  async bundled(program: string): Promise<string> {
    await this.write("bundled.ts", program);
    const outfile = join(this.folder, "bundle.cjs");
    await build({
      entryPoints: [join(this.folder, "bundled.ts")],
      outfile,
      bundle: true,
      platform: "node",
      logLevel: "error",
    });
    return this.#run(process.execPath, [outfile]);
  }

  /** Runs a program of an installed package. */
  bin(name: string, args: readonly string[], env: RunOptions["env"] = {}): Promise<string> {
    return run(join(this.folder, "node_modules/.bin", name), args, { cwd: this.folder, env: { ...this.#env, ...env } });
  }

  #run(command: string, args: readonly string[]): Promise<string> {
    return run(command, args, { cwd: this.folder, env: this.#env });
  }
}
