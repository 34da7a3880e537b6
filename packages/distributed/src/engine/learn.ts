import { type Agent, modeOf } from "./agent.ts";
import { addTo, at, isZero, zeros } from "./amounts.ts";
import type { Pool } from "./pool.ts";
import { BINS } from "./use-window.ts";

/**
 * At the end of its first listening an agent knows what the others have used who are there. Some of what was used before
 * it came is in nobody's own report any more, because whoever used it has left; but others have seen it.
 */
export function learn(agent: Agent, pool: Pool, now: number): void {
  const { seen, used } = pool;
  if (!seen || modeOf(agent, now) === "listening" || now < (agent.store?.returnsAt ?? 0)) return;
  pool.seen = undefined;
  const binMs = used.windowMs / BINS;
  const others = zeros(pool.limits.length);
  // Bins of different agents do not begin at the same time: sums from now back to some time can be compared, bins cannot.
  seen.bins.forEach((bin, b) => {
    addTo(others, bin);
    const known = used.since(seen.at - (b + 1) * binMs);
    const missing = others.map((amount, i) => Math.max(0, amount - at(known, i)));
    if (isZero(missing)) return;
    used.add(seen.at - b * binMs, missing);
    pool.unnamed.add(seen.at - b * binMs, missing);
  });
}
