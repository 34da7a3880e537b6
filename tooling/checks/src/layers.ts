/**
 * The packages that each package may import: imports go down only, and packages of one layer do not import each other;
 * `sync-redis` on `namespace` is the one step below `core` and `bus`.
 */
export const mayImport: Readonly<Record<string, readonly string[]>> = {
  core: [],
  bus: ["core"],
  namespace: ["core"],
  "bus-nats": ["core", "bus"],
  "bus-redis-pubsub": ["core", "bus"],
  "bus-kafka": ["core", "bus"],
  "sync-redis": ["core", "namespace"],
  distributed: ["core", "bus", "namespace"],
  fetch: ["core"],
  otel: ["core"],
  hivepace: ["core", "bus", "namespace", "distributed", "fetch", "otel"],
};

/**
 * Private packages that are bundled into a package's programs (`src/programs`, and the files that only programs reach).
 * The library of the package must reach neither these nor the programs.
 */
export const mayBundle: Readonly<Record<string, readonly string[]>> = {
  hivepace: ["open-bus", "redis-client", "simulate", "swarm", "dashboard"],
};

/**
 * Private packages that are inlined into a package's library. Each copy loads broker clients from the location of its
 * package, so that clients remain peer dependencies of the package.
 */
export const mayInline: Readonly<Record<string, readonly string[]>> = {
  "bus-redis-pubsub": ["redis-client"],
  "sync-redis": ["redis-client"],
};

/** The packages that an inlined private package may import; it belongs to the layer of its host. */
export const inlinedMayImport: readonly string[] = ["core"];

/**
 * Entries of private packages that are inlined into the library of a published package, which declares their imports as
 * its own.
 */
export const mayBuildIn: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  hivepace: { "@hivepace/open-bus/connect": "tooling/open-bus/src/connect.ts" },
};

/** Packages that load in browsers and edge runtimes too: no dependency, no static `node:` import. */
export const runAnywhere: readonly string[] = ["core", "bus", "fetch"];

/** Folders that code outside may import only through their `index.ts`, by package. Tests may import their files. */
export const closedFolders: Readonly<Record<string, readonly string[]>> = {
  distributed: ["src/engine"],
};
