/**
 * Imports go down only: what each package may import of the others. Those of one layer do not see each other;
 * `sync-redis` on `namespace` is the one step down beside `core` and `bus`.
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
 * Private packages of this workspace that are built into a package's programs (`src/programs`, and all that only they
 * reach). What is imported from the package reaches neither these nor the programs.
 */
export const mayBundle: Readonly<Record<string, readonly string[]>> = {
  hivepace: ["open-bus", "simulate", "swarm", "dashboard"],
};

/** These load in browsers and edge runtimes too: no dependency, no static `node:` import. */
export const runAnywhere: readonly string[] = ["core", "bus", "fetch"];
