import type { Agent } from "./agent.ts";
import { at, isZero } from "./amounts.ts";
import { dimensionsOf } from "./dimensions.ts";
import type { Pool } from "./pool.ts";

/** Bounds the memory for totals of removed quotas. */
const MOST_REMEMBERED = 10_000;

/** Saves the totals of a quota that ends, for a later quota of the same name. */
export function rememberCounts(agent: Agent, { config, sent, back }: Pool): void {
  if (isZero(sent)) return;
  const counts = agent.counted.get(config.name) ?? new Map();
  dimensionsOf(config).forEach((name, i) => {
    counts.set(name, { sent: at(sent, i), back: at(back, i) });
  });
  agent.counted.delete(config.name);
  agent.counted.set(config.name, counts);
  const [oldest] = agent.counted.keys();
  if (agent.counted.size > MOST_REMEMBERED && oldest !== undefined) agent.counted.delete(oldest);
}

/** Continues the totals of an earlier quota of the same name, because peers subtract what they have counted already. */
export function recallCounts(agent: Agent, pool: Pool): void {
  const counts = agent.counted.get(pool.config.name);
  if (!counts) return;
  dimensionsOf(pool.config).forEach((name, i) => {
    const { sent, back } = counts.get(name) ?? { sent: 0, back: 0 };
    pool.sent[i] = sent;
    pool.back[i] = back;
  });
}
