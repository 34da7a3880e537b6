import { existsSync, readdirSync, readFileSync } from "node:fs";
import { defineConfig, type Options } from "tsup";

/**
 * How every published package is built. The entries are the package's own `exports`, so that what is
 * built and what can be imported cannot drift apart.
 */
const { exports } = JSON.parse(readFileSync("package.json", "utf8")) as {
  exports: Record<string, string | Record<string, string>>;
};
const entry: Record<string, string> = {};
for (const target of Object.values(exports)) {
  if (typeof target === "string") continue;
  const source = target["@hivepace/source"];
  const built = target["default"];
  if (source && built) entry[built.replace(/^\.\/dist\/(.*)\.js$/, "$1")] = source;
}

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
  // esbuild makes `var` of our constants, which V8 does not fold; with this it puts their values where they are used.
  esbuildOptions: (options) => {
    options.minifySyntax = true;
  },
};

const library: Options = {
  ...common,
  entry,
  clean: ["!programs/**"],
  dts: {
    // `using` and `Symbol.asyncDispose` are newer than ES2022: the types say so themselves.
    banner: '/// <reference lib="esnext.disposable" />',
    compilerOptions: { ignoreDeprecations: "6.0" },
  },
};

/**
 * What stands in `src/programs` are programs, a package's command and what it starts: built apart from what is imported,
 * with the private packages of this workspace inside. Adapters and clients are loaded from where the user has them.
 */
const PROGRAMS = "src/programs";
const ASSETS = "src/build/assets.ts";
const programs: Options = {
  ...common,
  entry: existsSync(PROGRAMS) ? readdirSync(PROGRAMS).map((file) => `${PROGRAMS}/${file}`) : [],
  outDir: "dist/programs",
  clean: true,
  external: [/^node:/, /^@hivepace\/(bus-|sync-)/, "ioredis"],
  ...(existsSync(ASSETS) && { onSuccess: `tsx --conditions @hivepace/source ${ASSETS} dist/programs` }),
};

export default defineConfig(existsSync(PROGRAMS) ? [library, programs] : library);
