import { type Allocator, InvalidConfigError, type SyncStore } from "@hivepace/core";
import type { StoreConfig } from "../engine/index.ts";
import type { Settings } from "./config.ts";

/**
 * Method by which agents agree on their shares: among themselves on the bus, through a store, or by the size of the
 * swarm.
 */
export type Aggregation = "bus" | "store" | "auto";

/** The sizes of the swarm at which `auto` changes to the store and back to the bus. */
export interface AggregationAt {
  /** Number of agents above which `auto` uses the store. */
  readonly above: number;
  /** Number of agents below which `auto` uses the bus again. */
  readonly below: number;
}

/** Checks that the options fit together. Throws INVALID_CONFIG. */
export function checkAggregation(
  aggregation: Aggregation,
  at: AggregationAt,
  sync: SyncStore | undefined,
  sharing: Settings["sharing"],
): void {
  if (aggregation !== "bus" && aggregation !== "store" && aggregation !== "auto")
    throw new InvalidConfigError("aggregation", '"bus", "store" or "auto"', aggregation);
  const isRight = isCount(at?.above) && isCount(at?.below) && at.below <= at.above;
  if (!isRight)
    throw new InvalidConfigError("aggregationAt", "whole numbers of 1 or more, with `below` at most `above`", at);
  if (sync !== undefined && typeof sync?.sync !== "function") throw new InvalidConfigError("sync", "a SyncStore", sync);
  if (aggregation === "store" && !(sync && allocatorOf(sync)))
    throw new InvalidConfigError("sync", 'a store that can grant limits, with aggregation "store"', sync?.name);
  if (aggregation === "store" && sharing === "none")
    throw new InvalidConfigError("aggregation", '"bus" or "auto" with sharing "none"', aggregation);
}

/** Returns the store as an allocator, if it can allocate limits. */
export function allocatorOf(sync: SyncStore): Allocator | undefined {
  return typeof sync.allocate === "function" ? (sync as Allocator) : undefined;
}

/**
 * The engine's store settings; undefined without a store that allocates limits. Without a bus, `auto` means `store`.
 */
export function storeOf({ aggregation, aggregationAt, sync, sharing, bus }: Settings): StoreConfig | undefined {
  if (aggregation === "bus" || sharing === "none" || !sync || !allocatorOf(sync)) return undefined;
  return { aggregation: bus ? aggregation : "store", ...aggregationAt };
}

function isCount(count: number): boolean {
  return Number.isSafeInteger(count) && count >= 1;
}
