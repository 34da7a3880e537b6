import { countLaws } from "./sync-count-laws.ts";
import { nameLaws } from "./sync-name-laws.ts";
import { closingLaws, outageLaws } from "./sync-outage-laws.ts";
import { inSyncWorld, PATIENCE_MS, type SyncStoreSuiteOptions } from "./sync-world.ts";

/** Timeout of one law for the test runner: several waits of up to `PATIENCE_MS` each. */
const LAW_TIMEOUT_MS = 4 * PATIENCE_MS;

/**
 * Defines one test for every law of a sync store. Run the suite for every store that you write.
 *
 * - `sync-count-laws.ts`: every count is counted exactly once
 * - `sync-name-laws.ts`: names, agents, namespaces and windows
 * - `sync-outage-laws.ts`: closing, and a server that is killed and restarted (with `restart`)
 *
 * @example
 * ```ts
 * import { memorySyncStore, SyncMemory, syncStoreSuite } from "@hivepace/core/testing";
 * import { test } from "vitest";
 *
 * const memory = new SyncMemory();
 * syncStoreSuite({ test, open: async () => memorySyncStore({ memory }) });
 * ```
 */
export function syncStoreSuite({ test, open, restart }: SyncStoreSuiteOptions): void {
  const laws = [...countLaws, ...nameLaws, ...closingLaws, ...(restart ? outageLaws(restart) : [])];
  for (const [name, body] of laws) test(name, () => inSyncWorld(open, body), LAW_TIMEOUT_MS);
}
