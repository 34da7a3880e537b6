import { runSimulate, usage } from "@hivepace/simulate";
import type { World } from "../world.ts";

export const help = `hivepace ${usage}`;

export function run(args: readonly string[], world: World): Promise<number> {
  world.endAtOnce?.();
  return runSimulate(args, world);
}
