import { InvalidConfigError, type ShareStore, type SyncStore } from "@hivepace/core";
import type { StoreConfig } from "../engine/store-side.ts";
import type { Settings } from "./config.ts";

/** How agents agree on their shares: among themselves on the bus, through a store, or by the size of the swarm. */
export type Aggregation = "bus" | "store" | "auto";

/** The sizes of the swarm at which `auto` changes to the store and back to the bus. */
export interface AggregationAt {
  readonly above: number;
  readonly below: number;
}

/** Throws INVALID_CONFIG for options that do not fit together. */
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
    throw new InvalidConfigError("aggregationAt", "whole numbers from 1 on, of which `below` is not the larger", at);
  if (sync !== undefined && typeof sync?.sync !== "function") throw new InvalidConfigError("sync", "a SyncStore", sync);
  if (aggregation === "store" && !(sync && shareStore(sync)))
    throw new InvalidConfigError("sync", 'a store that hands out limits, with aggregation "store"', sync?.name);
  if (aggregation === "store" && sharing === "none")
    throw new InvalidConfigError("aggregation", '"bus" or "auto" where nothing is shared', aggregation);
}

/** The store, if it can hand out limits. */
export function shareStore(sync: SyncStore): ShareStore | undefined {
  return typeof sync.share === "function" ? (sync as ShareStore) : undefined;
}

/** How agents use a store that hands out limits, if there is one. Without a bus, `auto` means `store`. */
export function storeOf({ aggregation, aggregationAt, sync, sharing, bus }: Settings): StoreConfig | undefined {
  if (aggregation === "bus" || sharing === "none" || !sync || !shareStore(sync)) return undefined;
  return { aggregation: bus ? aggregation : "store", ...aggregationAt };
}

function isCount(count: number): boolean {
  return Number.isSafeInteger(count) && count >= 1;
}
