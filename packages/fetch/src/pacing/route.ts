import type { GateRoute } from "@hivepace/core";

/** The route without an endpoint; empty when nothing is left. */
export function without(route: GateRoute, endpoint: string): GateRoute {
  return route.flatMap((one): (string | readonly string[])[] => {
    if (typeof one === "string") return one === endpoint ? [] : [one];
    const tier = one.filter((id) => id !== endpoint);
    return tier.length === 0 ? [] : [tier];
  });
}

/** The endpoints of a route, in order. */
export function endpointsOf(route: GateRoute): readonly string[] {
  return route.flat();
}
