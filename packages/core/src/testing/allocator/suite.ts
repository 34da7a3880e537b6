import type { Allocator } from "../../allocator.ts";
import { PATIENCE_MS, type SyncTestFunction } from "../sync-world.ts";
import { grantLaws } from "./grant-laws.ts";
import { memberLaws } from "./member-laws.ts";
import { slotLaws } from "./slot-laws.ts";
import { inAllocatorWorld } from "./world.ts";

/** Options of the conformance suite of an `Allocator`. */
export interface AllocatorSuiteOptions {
  readonly test: SyncTestFunction;
  /** Opens a new store on the same server. The suite closes it. */
  readonly open: () => Promise<Allocator & { close(): Promise<void> }>;
}

/**
 * Defines one test for every law of an `Allocator`.
 *
 * - `grant-laws.ts`: the size, order and return of grants
 * - `member-laws.ts`: membership, levels, limits and names
 * - `slot-laws.ts`: limits on calls in flight
 */
export function allocatorSuite({ test, open }: AllocatorSuiteOptions): void {
  for (const [name, body] of [...grantLaws, ...memberLaws, ...slotLaws])
    test(name, () => inAllocatorWorld(open, body), 2 * PATIENCE_MS);
}
