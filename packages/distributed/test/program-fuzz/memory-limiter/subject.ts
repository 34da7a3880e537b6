import type { Subject } from "../core/subject.ts";
import { generate } from "./generate.ts";
import type { Command, Setup } from "./program.ts";
import { MemoryLimiterWorld } from "./world.ts";

/** Programs over `MemoryLimiter`. */
export const memoryLimiter: Subject<Setup, Command> = {
  name: "memory-limiter",
  generate,
  open: async (program) => new MemoryLimiterWorld(program),
  *simpler(setup) {
    const { resources, maxQueue } = setup;
    for (const [i] of resources.entries()) yield { ...setup, resources: resources.filter((_, j) => j !== i) };
    if (maxQueue !== undefined) yield { ...setup, maxQueue: undefined };
    if (setup.onDemand) yield { ...setup, onDemand: false };
    if (setup.closesEarly) yield { ...setup, closesEarly: false };
  },
};
