import { type GateRoute, InvalidConfigError } from "@hivepace/core";

/** Returns the tiers of a route, each endpoint once. A list without nested lists is one tier. Throws INVALID_CONFIG. */
export function tiersOf(route: GateRoute, option: string): readonly (readonly string[])[] {
  if (!Array.isArray(route) || route.length === 0)
    throw new InvalidConfigError(option, "a list of one or more endpoints", route);
  if (!route.some((one) => typeof one !== "string")) return [[...new Set(route as readonly string[])]];
  const seen = new Set<string>();
  const tiers = route.map((tier: string | readonly string[]) => {
    const ids = typeof tier === "string" ? [tier] : tier;
    if (!Array.isArray(ids) || ids.length === 0 || ids.some((id) => typeof id !== "string"))
      throw new InvalidConfigError(option, "a list of endpoints, or of lists of one or more endpoints", route);
    const first = ids.filter((id) => !seen.has(id));
    for (const id of first) seen.add(id);
    return [...new Set(first)];
  });
  return tiers.filter(({ length }) => length > 0);
}

/** All endpoints of the tiers. */
export function idsOf(tiers: readonly (readonly string[])[]): readonly string[] {
  return tiers.length === 1 ? (tiers[0] as readonly string[]) : tiers.flat();
}

/** Returns the tiers restricted to these endpoints. */
export function tiersWithin(
  tiers: readonly (readonly string[])[],
  isIn: (endpoint: string) => boolean,
): readonly (readonly string[])[] {
  const kept = tiers.map((tier) => tier.filter(isIn));
  return kept.filter(({ length }) => length > 0);
}
