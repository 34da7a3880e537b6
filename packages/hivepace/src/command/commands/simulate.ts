import { runSimulate, usage } from "@hivepace/simulate";
import type { World } from "../world.ts";

export const help = `hivepace ${usage}`;

export function run(args: readonly string[], world: World): Promise<number> {
  return runSimulate(args, world);
}
