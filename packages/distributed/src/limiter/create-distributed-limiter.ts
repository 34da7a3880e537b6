import { type DistributedConfig, settingsOf } from "./config.ts";
import type { DistributedLimiter } from "./distributed-limiter.ts";
import { SwarmLimiter } from "./swarm-limiter.ts";

/**
 * Creates a limiter for one agent of a swarm. Resolves when the subscriptions on the bus are active, or at once when
 * the bus is away; the agent then joins when the bus is back.
 *
 * @throws INVALID_CONFIG, BUS_CLOSED, or BUS_UNAVAILABLE when the broker refuses the subscription
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
