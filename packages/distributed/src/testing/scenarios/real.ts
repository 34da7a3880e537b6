import { realProviders } from "./real-providers.ts";
import { realSwarms } from "./real-swarms.ts";
import { realTraffic } from "./real-traffic.ts";
import { realWindows } from "./real-windows.ts";
import type { Scenario } from "./scenario.ts";

/**
 * Scenarios for hives in front of providers that behave like real ones, by theme. For `drive: "hive"`. The bounds are
 * goals, some of which are not met yet.
 */
export const realScenarios: Readonly<Record<"providers" | "traffic" | "swarms" | "windows", readonly Scenario[]>> = {
  providers: realProviders,
  traffic: realTraffic,
  swarms: realSwarms,
  windows: realWindows,
};
