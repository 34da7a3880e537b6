import { defineConfig } from "vitest/config";

// Tests run from source: the packages' own export condition leads to `src`, so nothing needs building first.
const conditions = ["@hivepace/source"];
const shared = {
  resolve: { conditions },
  ssr: { resolve: { conditions, externalConditions: conditions } },
};
const never = ["**/node_modules/**", "**/dist/**", "**/.cache/**"];
const needsServers = "**/*.integration.test.ts";
const needsBrowser = "**/*.browser.test.ts";

export default defineConfig({
  test: {
    // Integration tests mostly wait for servers: more of them than cores run side by side.
    maxWorkers: 4,
    reporters: process.env["CI"] ? ["default", ["json", { outputFile: ".cache/test-results.json" }]] : ["default"],
    projects: [
      {
        ...shared,
        test: {
          name: "unit",
          include: ["**/*.test.ts"],
          exclude: [...never, needsServers, needsBrowser],
          // They take milliseconds; this only ends one that hangs, also on a machine that is busy with everything else.
          testTimeout: 30_000,
        },
      },
      {
        ...shared,
        test: {
          name: "integration",
          include: [needsServers],
          exclude: never,
          globalSetup: "tooling/servers/src/vitest-setup.ts",
          testTimeout: 60_000,
          hookTimeout: 120_000,
        },
      },
      {
        ...shared,
        test: {
          name: "browser",
          include: [needsBrowser],
          exclude: never,
          globalSetup: "tooling/servers/src/vitest-setup.ts",
          testTimeout: 60_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});
