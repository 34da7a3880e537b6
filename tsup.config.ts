import { existsSync, readdirSync, readFileSync } from "node:fs";
import type { Plugin } from "esbuild";
import { defineConfig, type Options } from "tsup";

/**
 * How every published package is built. The entries are the package's own `exports`, so that what is
 * built and what can be imported cannot drift apart.
 */
const { exports } = JSON.parse(readFileSync("package.json", "utf8")) as {
  exports: Record<string, string | { "@hivepace/source": string; import: { default: string } }>;
};
const entry: Record<string, string> = {};
for (const target of Object.values(exports)) {
  if (typeof target === "string") continue;
  entry[target.import.default.replace(/^\.\/dist\/(.*)\.js$/, "$1")] = target["@hivepace/source"];
}

/** esbuild makes `var` of our constants, which V8 does not fold; with this it puts their values where they are used. */
const foldConstants: NonNullable<Options["esbuildOptions"]> = (options) => {
  options.minifySyntax = true;
};

const common: Options = {
  format: "esm",
  target: "node20",
  platform: "neutral",
  splitting: true,
  sourcemap: true,
  treeshake: true,
  // `node:crypto` stays what it is: without its prefix some bundlers look for a package of that name.
  removeNodeProtocol: false,
  external: [/^node:/],
  esbuildOptions: foldConstants,
};

/** Private packages of this workspace that are built into libraries; see `mayInline` in `tooling/checks/src/layers.ts`. */
const INLINED = ["@hivepace/redis-client"];

/**
 * The CommonJS build loads brokers' clients by `require()`: Jest runs CommonJS in a context without dynamic `import()`.
 * `require()` throws where `import()` rejects, which is the same inside an async function.
 */
const requireOnDemand: NonNullable<Options["plugins"]>[number] = {
  name: "require on demand",
  renderChunk(code) {
    if (this.format !== "cjs") return undefined;
    return { code: code.replace(/\bimport\(("[^"]+")\)/g, "Promise.resolve(require($1))") };
  },
};

const library: Options = {
  ...common,
  entry,
  noExternal: INLINED,
  format: ["esm", "cjs"],
  plugins: [requireOnDemand],
  clean: ["!programs/**"],
  dts: {
    // Their types stand in one file each, because only that is taken in.
    resolve: INLINED.map((name) => `${name}/types`),
    // `using` and `Symbol.asyncDispose` are newer than ES2022: the types say so themselves.
    banner: '/// <reference lib="esnext.disposable" />',
    compilerOptions: { ignoreDeprecations: "6.0" },
  },
};

/** Source maps are for our own code: those of others would be larger than all the rest. */
const NO_MAP = Buffer.from('{"version":3,"sources":[""],"mappings":"AAAA"}').toString("base64");
const othersWithoutMaps: Plugin = {
  name: "others without maps",
  setup({ onLoad }) {
    onLoad({ filter: /\/node_modules\/.*\.m?js$/ }, ({ path }) => {
      const code = readFileSync(path, "utf8").replace(/^\/\/# sourceMappingURL=.*$/m, "");
      return { contents: `${code}\n//# sourceMappingURL=data:application/json;base64,${NO_MAP}`, loader: "js" };
    });
  },
};

/**
 * What stands in `src/programs` are programs, a package's command and what it starts: built apart from what is imported,
 * with the private packages of this workspace inside, and what these need. Adapters and clients are loaded from where the
 * user has them.
 */
const PROGRAMS = "src/programs";
const ASSETS = "src/build/assets.ts";
const programs: Options = {
  ...common,
  entry: existsSync(PROGRAMS) ? readdirSync(PROGRAMS).map((file) => `${PROGRAMS}/${file}`) : [],
  outDir: "dist/programs",
  clean: true,
  platform: "node",
  // Prefers the ES modules of a package, because unused exports can be removed only from these.
  esbuildOptions: (options, context) => {
    foldConstants(options, context);
    options.mainFields = ["module", "main"];
  },
  // OpenTelemetry imports `getMachineId-*` lazily for resource detectors, which the programs do not use.
  external: [/^node:/, /^@hivepace\/(bus-|sync-)/, "ioredis", "redis", /^@redis\//, /^\.\/getMachineId-/],
  esbuildPlugins: [othersWithoutMaps],
  ...(existsSync(ASSETS) && { onSuccess: `tsx --conditions @hivepace/source ${ASSETS} dist/programs` }),
};

export default defineConfig(existsSync(PROGRAMS) ? [library, programs] : library);
