import type { SyncStore } from "@hivepace/core";
import type { Aggregation, AggregationAt } from "../limiter/aggregation.ts";
import type { StoreOptions } from "./options.ts";

/** The options for the simulated store, if there is one. Thresholds are rounded: real objects accept only whole numbers. */
export function storeSettings(
  store: StoreOptions | undefined,
  sync: SyncStore | undefined,
): { sync?: SyncStore; aggregation?: Aggregation; aggregationAt?: AggregationAt } {
  if (!store || !sync) return {};
  const { aggregation, above = 300, below = 200 } = store;
  const aggregationAt = { above: Math.max(1, Math.round(above)), below: Math.max(1, Math.round(below)) };
  return { sync, aggregation, aggregationAt };
}
