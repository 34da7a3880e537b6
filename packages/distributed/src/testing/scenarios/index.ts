import { congestion } from "./congestion.ts";
import { membership } from "./membership.ts";
import { mistakes } from "./mistakes.ts";
import { outages } from "./outages.ts";
import type { Scenario } from "./scenario.ts";
import { steady } from "./steady.ts";
import { store } from "./store.ts";
import { tokenCosts } from "./tokens.ts";

/** All situations of a swarm that are simulated, with the figures that must hold, by theme. */
export const swarmScenarios: Readonly<
  Record<"steady" | "tokens" | "membership" | "mistakes" | "outages" | "congestion" | "store", readonly Scenario[]>
> = {
  steady,
  tokens: tokenCosts,
  membership,
  mistakes,
  outages,
  congestion,
  store,
};
