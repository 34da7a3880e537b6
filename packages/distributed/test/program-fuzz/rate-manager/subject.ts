import type { Subject } from "../core/subject.ts";
import { generate } from "./generate.ts";
import type { Command, Setup } from "./program.ts";
import { RateManagerWorld } from "./world.ts";

/** Programs over `RateManager`. */
export const rateManager: Subject<Setup, Command> = {
  name: "rate-manager",
  generate,
  open: async (program) => new RateManagerWorld(program),
  *simpler(setup) {
    const { endpoints, keys, isShared, window } = setup;
    if (isShared) yield { ...setup, isShared: false };
    for (const [i] of endpoints.entries()) yield { ...setup, endpoints: endpoints.filter((_, j) => j !== i) };
    for (const key of Object.keys(keys)) {
      const { [key]: _, ...rest } = keys;
      yield { ...setup, keys: rest };
    }
    if (window === "sliding") yield { ...setup, window: "fixed" };
    if (setup.mockEndpointTpmThreshold !== undefined) yield { ...setup, mockEndpointTpmThreshold: undefined };
  },
};
