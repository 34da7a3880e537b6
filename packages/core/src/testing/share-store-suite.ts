import type { ShareStore } from "../share-store.ts";
import { handLaws } from "./share-hand-laws.ts";
import { memberLaws } from "./share-member-laws.ts";
import { inShareWorld } from "./share-world.ts";
import { PATIENCE_MS, type SyncTestFunction } from "./sync-world.ts";

/** What the suite needs to know of a store that hands out limits. */
export interface ShareStoreSuiteOptions {
  readonly test: SyncTestFunction;
  /** Opens one more store on the same server. The suite closes it. */
  readonly open: () => Promise<ShareStore & { close(): Promise<void> }>;
}

/**
 * Every law of a store that hands out limits, each a test of its own.
 *
 * - `share-hand-laws.ts`: what is handed out, to whom, and what becomes of it
 * - `share-member-laws.ts`: who is there, levels, limits, names
 */
export function shareStoreSuite({ test, open }: ShareStoreSuiteOptions): void {
  for (const [name, body] of [...handLaws, ...memberLaws]) test(name, () => inShareWorld(open, body), 2 * PATIENCE_MS);
}
