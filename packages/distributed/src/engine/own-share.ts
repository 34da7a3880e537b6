import { type Agent, modeIn } from "./agent.ts";
import { agreement } from "./agreement.ts";
import { type Amounts, zeros } from "./amounts.ts";
import { mostKept } from "./kept.ts";
import type { Pool } from "./pool.ts";

/** This agent's part of what all may use in a window now, as far as it knows. */
export function ownShare(agent: Agent, pool: Pool, now: number): Amounts {
  switch (modeIn(agent, pool, now)) {
    case "listening":
      return zeros(pool.limits.length);
    case "served":
      return pool.allotment?.fair ?? zeros(pool.limits.length);
    case "cut-off":
      return mostKept(agent, pool, now);
    default:
      return agreement(agent, pool, now).get(undefined)?.to ?? zeros(pool.limits.length);
  }
}
