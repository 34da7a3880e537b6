import { type DistributedConfig, settingsOf } from "./config.ts";
import type { DistributedLimiter } from "./distributed-limiter.ts";
import { SwarmLimiter } from "./swarm-limiter.ts";

/**
 * A limiter for one agent of a swarm. Resolves when the bus has subscribed it, or at once when the bus is away: then it
 * joins the others when it is back. Rejects with INVALID_CONFIG, BUS_CLOSED, or BUS_UNAVAILABLE when the broker refuses.
 */
export async function createDistributedLimiter(config: DistributedConfig): Promise<DistributedLimiter> {
  const limiter = new SwarmLimiter(settingsOf(config));
  if (config.onCapacityChange) limiter.onCapacityChange(config.onCapacityChange);
  try {
    await limiter.open();
  } catch (error) {
    await limiter.close();
    throw error;
  }
  return limiter;
}
