import { startDashboard } from "@hivepace/dashboard";
import { runDemo, usageWithoutServers } from "@hivepace/swarm";
import type { World } from "../world.ts";

export const help = `hivepace ${usageWithoutServers}`;

export function run(args: readonly string[], world: World): Promise<number> {
  return runDemo(args, { ...world, agentFile, openDashboard: startDashboard });
}

/** Built, it stands beside the program; from source it has to be made, for a thread cannot load TypeScript. */
async function agentFile(): Promise<URL> {
  if (!import.meta.url.endsWith(".ts")) return new URL("./agent.js", import.meta.url);
  // By a name that no bundler follows.
  const builder = "@hivepace/swarm/bundle-agent";
  const { bundleAgent } = (await import(builder)) as typeof import("@hivepace/swarm/bundle-agent");
  return bundleAgent();
}
