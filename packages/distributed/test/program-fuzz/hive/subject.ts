import type { Subject } from "../core/subject.ts";
import { generate, generateExtreme, generateOperations } from "./generate.ts";
import type { Command, Setup } from "./program.ts";
import { HiveWorld } from "./world.ts";

/** Programs over `createHive`. */
export const hive: Subject<Setup, Command> = {
  name: "hive",
  generate,
  open: (program, warnings) => new HiveWorld(program, warnings).open(),
  simpler,
};

/** Programs over `createHive` with numbers at the edges of the allowed ranges. */
export const extremeHive: Subject<Setup, Command> = { ...hive, name: "hive-extremes", generate: generateExtreme };

/** Programs over the whole API of a hive, see `generateOperations`. */
export const hiveOperations: Subject<Setup, Command> = {
  ...hive,
  name: "hive-operations",
  generate: generateOperations,
};

function* simpler(setup: Setup): Iterable<Setup> {
  const { hives, bus, store, endpoints, keys, options } = setup;
  if (hives > 1) yield { ...setup, hives: hives - 1 };
  if (store !== "none") yield { ...setup, store: "none" };
  if (bus === "lossy") yield { ...setup, bus: "perfect" };
  if (hives === 1 && bus !== "none") yield { ...setup, bus: "none" };
  if (endpoints.length > 1)
    for (const [i] of endpoints.entries()) yield { ...setup, endpoints: endpoints.filter((_, j) => j !== i) };
  for (const key of Object.keys(keys)) {
    const { [key]: _, ...rest } = keys;
    yield { ...setup, keys: rest };
  }
  for (const option of Object.keys(options) as (keyof Setup["options"])[])
    if (options[option] !== undefined) yield { ...setup, options: { ...options, [option]: undefined } };
}
