import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

// Tests run from source: the packages' own export condition leads to `src`, so nothing needs building first.
const conditions = ["@hivepace/source"];
const never = ["**/node_modules/**", "**/dist/**", "**/.cache/**"];
const needsServers = "**/*.integration.test.ts";
const needsBrowser = "**/*.browser.test.ts";
const slow = "**/*.slow.test.ts";
const release = "**/*.release.test.ts";
const servers = "tooling/servers/src/vitest-setup.ts";

/** Ends a test that hangs. No test depends on it: the slowest takes seconds, and a busy machine may take minutes. */
const HANGS_MS = 15 * 60_000;

/** Projects run one after the other, in this order. */
function project(name: string, order: number, maxWorkers: number, test: object) {
  return {
    resolve: { conditions },
    ssr: { resolve: { conditions, externalConditions: conditions } },
    test: {
      name,
      maxWorkers,
      sequence: { groupOrder: order },
      setupFiles: "tooling/test-kit/src/vitest-setup.ts",
      // The setup file shows the warnings of tests that fail; most tests of failures cause some on purpose.
      execArgv: ["--no-warnings"],
      testTimeout: HANGS_MS,
      hookTimeout: HANGS_MS,
      teardownTimeout: HANGS_MS,
      ...test,
    },
  };
}

// More processes than cores: many tests wait, and on a busy machine each process gets a share of its own.
const cores = availableParallelism();
const busy = 2 * cores;
// Integration tests mostly wait for servers.
const waiting = 3 * cores;

export default defineConfig({
  test: {
    reporters: [
      "default",
      "./tooling/test-kit/src/repeat-reporter.ts",
      ...(process.env["CI"]
        ? [["json", { outputFile: process.env["HIVEPACE_RESULTS"] ?? ".cache/test-results.json" }] as ["json", object]]
        : []),
    ],
    slowTestThreshold: 60_000,
    projects: [
      project("unit", 0, busy, {
        include: ["**/*.test.ts"],
        exclude: [...never, needsServers, needsBrowser, slow, release],
        // Files of one process share what they import: loading it for each of them took most of the time.
        isolate: false,
      }),
      project("integration", 1, waiting, { include: [needsServers], exclude: never, globalSetup: servers }),
      project("browser", 2, cores, { include: [needsBrowser], exclude: never, globalSetup: servers }),
      project("slow", 3, cores, { include: [slow], exclude: never, globalSetup: servers }),
      project("release", 4, cores, { include: [release], exclude: never, globalSetup: servers }),
    ],
  },
});
