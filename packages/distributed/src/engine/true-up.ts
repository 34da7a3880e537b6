import type { Agent } from "./agent.ts";
import { addTo, minus } from "./amounts.ts";
import type { Pool } from "./pool.ts";

/**
 * A newcomer is told only in which part of the window something was used before it came, and counts it for too long. But
 * everyone says with each word how much it has used in its own last window: no more than the sum of that can be in the
 * window of all. What is above it has left already.
 */
export function trueUp(agent: Agent, pool: Pool, now: number): void {
  const { name, windowMs } = pool.config;
  pool.own.expire(now);
  pool.unnamed.expire(now);
  const most = pool.own.sum.map((amount) => Math.max(0, amount));
  addTo(most, pool.unnamed.sum);
  for (const { pools } of agent.peers.values()) {
    const known = pools.get(name);
    if (!known) continue;
    const { said, heard } = known;
    // The usage of a peer that reports another window is out of date.
    if (heard.windowMs !== windowMs) return;
    addTo(most, said.used);
  }
  const excess = minus(pool.used.sum, most);
  if (excess.some((amount) => amount > 0)) pool.used.trim(excess);
}
