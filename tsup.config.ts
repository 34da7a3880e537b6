import { readFileSync } from "node:fs";
import { defineConfig } from "tsup";

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

export default defineConfig({
  entry,
  format: "esm",
  target: "node20",
  platform: "neutral",
  clean: true,
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
  dts: {
    // `using` and `Symbol.asyncDispose` are newer than ES2022: the types say so themselves.
    banner: '/// <reference lib="esnext.disposable" />',
    compilerOptions: { ignoreDeprecations: "6.0" },
  },
});
