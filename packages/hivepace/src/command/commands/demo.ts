import { startDashboard } from "@hivepace/dashboard";
import { runDemo, usageWithoutServers } from "@hivepace/swarm";
import type { World } from "../world.ts";

export const help = `hivepace ${usageWithoutServers}`;

export function run(args: readonly string[], world: World): Promise<number> {
  return runDemo(args, { ...world, agentFile, openDashboard: startDashboard });
}

/**
 * Returns the file of the agent program. The build places it beside this one; from source it is bundled first, because
 * a worker thread cannot load TypeScript.
 */
async function agentFile(): Promise<URL> {
  if (!import.meta.url.endsWith(".ts")) return new URL("./agent.js", import.meta.url);
  // A name in a variable keeps bundlers from following the import.
  const builder = "@hivepace/swarm/bundle-agent";
  const { bundleAgent } = (await import(builder)) as typeof import("@hivepace/swarm/bundle-agent");
  return bundleAgent();
}
