import { countLaws } from "./sync-count-laws.ts";
import { nameLaws } from "./sync-name-laws.ts";
import { closingLaws, outageLaws } from "./sync-outage-laws.ts";
import { inSyncWorld, PATIENCE_MS, type SyncStoreSuiteOptions } from "./sync-world.ts";

/** How long the runner should give one law: several waits, each as long as it may take. */
const LAW_TIMEOUT_MS = 4 * PATIENCE_MS;

/**
 * Every law of a sync store, each a test of its own: run it for every store that you write.
 *
 * - `sync-count-laws.ts`: what is counted, and that it is counted once
 * - `sync-name-laws.ts`: things, agents, namespaces and windows
 * - `sync-outage-laws.ts`: closing, and a server that is killed and comes back (with `restart`)
 */
export function syncStoreSuite({ test, open, restart }: SyncStoreSuiteOptions): void {
  const laws = [...countLaws, ...nameLaws, ...closingLaws, ...(restart ? outageLaws(restart) : [])];
  for (const [name, body] of laws) test(name, () => inSyncWorld(open, body), LAW_TIMEOUT_MS);
}
