import { at, ownUsageOf, swarmUsageOf } from "../engine/index.ts";
import type { GlobalView, OthersUsage } from "../global-view/view-types.ts";
import type { HiveDimension } from "./hive-types.ts";
import type { Target } from "./target.ts";

/** Usage of an endpoint by other agents: the larger of their reports on the bus and their counts in the store. */
export function othersOf(
  target: Target | undefined,
  view: Pick<GlobalView, "others"> | undefined,
  endpoint: string,
  model: string | undefined,
  now: number,
): OthersUsage | undefined {
  const stored = view?.others(endpoint, model);
  const share = target?.shares[0];
  if (!share) return stored;
  const { quota, dimensions } = share;
  const swarm = swarmUsageOf(quota, now);
  const own = ownUsageOf(quota, now);
  const sum = (dimension: HiveDimension): number => {
    const i = dimensions.indexOf(dimension);
    return i < 0 ? 0 : Math.max(0, at(swarm, i) - at(own, i));
  };
  return {
    requests: Math.max(sum("requests"), stored?.requests ?? 0),
    tokens: Math.max(sum("tokens"), stored?.tokens ?? 0),
    remainingMs: stored?.remainingMs ?? quota.config.windowMs,
  };
}
