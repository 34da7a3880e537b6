import type { Amounts } from "../engine/amounts.ts";
import { amountsOf, type Limits, type SimulationOptions } from "./options.ts";
import { type ProviderOptions, providerDefaults } from "./provider-options.ts";

/** The endpoint of a simulation that names none. */
export const ONLY_ENDPOINT = "provider";

/** One endpoint as the whole simulation sees it. */
export interface Endpoint {
  readonly id: string;
  readonly limits: Limits;
  /** The same limits as amounts, requests first. */
  readonly amounts: Amounts;
  readonly provider: ProviderOptions;
  /** Its part of the calls that are for one endpoint only. */
  readonly part: number;
}

/** All endpoints. Without a list of them there is one, with the limits and the provider of the simulation. */
export function endpointsOf({ endpoints, limits, provider }: SimulationOptions): Endpoint[] {
  return (endpoints ?? [{ id: ONLY_ENDPOINT }]).map((endpoint) => {
    const own = { ...limits, ...endpoint.limits };
    return {
      id: endpoint.id,
      limits: own,
      amounts: amountsOf(own),
      provider: { ...providerDefaults, ...provider, ...endpoint.provider },
      part: endpoint.part ?? 1,
    };
  });
}
