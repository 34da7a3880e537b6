import { waitOf } from "./wait.ts";
import type { Frame, PointOfLimit, PointOfResource, ResourceFrame } from "./wire.ts";

/** Extracts the values of these resources from a frame, for the charts. */
export function pointsOf({ agents }: Frame, resources: readonly ResourceFrame[]): readonly PointOfResource[] {
  const lives = new Map(agents.map(({ agentId, upMs }) => [agentId, upMs]));
  return resources.map((one) => {
    const longest = (i: number): number =>
      one.agents.reduce(
        (most, use) => Math.max(most, waitOf(use, i, one.windowMs, lives.get(use.agentId) ?? Infinity)),
        0,
      );
    const limits = one.limits.map(
      ({ limit, total, used, waiting }, i): PointOfLimit => [limit, total, used, waiting, longest(i)],
    );
    return { resource: one.resource, level: one.level, limits };
  });
}
