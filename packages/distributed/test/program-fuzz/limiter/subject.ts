import type { Subject } from "../core/subject.ts";
import { generate, generateExtreme } from "./generate.ts";
import type { Command, Setup } from "./program.ts";
import { LimiterWorld } from "./world.ts";

/** Programs over `createDistributedLimiter`. */
export const limiter: Subject<Setup, Command> = {
  name: "limiter",
  generate,
  open: (program) => new LimiterWorld(program).open(),
  simpler,
};

/** Programs over `createDistributedLimiter` with numbers at the edges of the allowed ranges. */
export const extremeLimiter: Subject<Setup, Command> = {
  ...limiter,
  name: "limiter-extremes",
  generate: generateExtreme,
};

function* simpler(setup: Setup): Iterable<Setup> {
  const { agents, bus, hasStore, sharing, resources, options } = setup;
  if (agents > 1) yield { ...setup, agents: agents - 1 };
  if (bus === "lossy") yield { ...setup, bus: "perfect" };
  if (hasStore) yield { ...setup, hasStore: false };
  if (sharing === "none") yield { ...setup, sharing: "fair" };
  for (const [i] of resources.entries()) yield { ...setup, resources: resources.filter((_, j) => j !== i) };
  for (const option of Object.keys(options) as (keyof Setup["options"])[])
    if (options[option] !== undefined) yield { ...setup, options: { ...options, [option]: undefined } };
}
