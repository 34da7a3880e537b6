import type { Amounts } from "../engine/index.ts";
import { amountsOf, type Limits, type SimulationOptions } from "./options.ts";
import { type ProviderOptions, providerDefaults } from "./provider-options.ts";

/** The id of the endpoint in a simulation that configures none. */
export const ONLY_ENDPOINT = "provider";

/** One endpoint as the whole simulation sees it. */
export interface Endpoint {
  readonly id: string;
  readonly limits: Limits;
  /** The same limits as amounts, requests first. */
  readonly amounts: Amounts;
  readonly provider: ProviderOptions;
  /** Relative share of the calls that may use only one endpoint. */
  readonly part: number;
}

/** Returns all endpoints. Without a configured list there is one, with the simulation's limits and provider. */
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
