import { realProviders } from "./real-providers.ts";
import { realSwarms } from "./real-swarms.ts";
import { realTraffic } from "./real-traffic.ts";
import type { Scenario } from "./scenario.ts";

/**
 * What happens to hives in front of providers that behave as real ones do, by theme. For `drive: "hive"`. The figures are
 * those that are wanted.
 */
export const realScenarios: Readonly<Record<"providers" | "traffic" | "swarms", readonly Scenario[]>> = {
  providers: realProviders,
  traffic: realTraffic,
  swarms: realSwarms,
};
