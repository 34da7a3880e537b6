import type { Agent } from "./agent.ts";
import { type Amounts, at } from "./amounts.ts";
import { firstClaim } from "./claim.ts";
import type { OwnClaim, Pool } from "./pool.ts";
import { roomOf } from "./room.ts";
import { settleMsOf } from "./schedule.ts";
import { isBefore } from "./turn.ts";

/**
 * While the first in line waits for room that a large call needs, a smaller one may go before it, if the first is not
 * served later because of that: there is room for it now, and there will still be enough for the first when it is due.
 */
export function fitsBetween(
  agent: Agent,
  pool: Pool,
  claim: OwnClaim,
  cost: Amounts,
  before: Amounts,
  now: number,
): boolean {
  const first = firstClaim(pool);
  if (!first || !isBefore(first, claim)) return false;
  const room = roomOf(agent, pool, now);
  const need = first.next.map((amount, i) => amount - at(room, i));
  const startsAt = pool.used.whenGone(need);
  // The first may reckon with more: it may keep nothing for the silent, and not know of all that was used.
  const { headroom } = agent.config.tuning;
  const least = need.map((amount, i) => amount - at(pool.reserved, i) - at(pool.limits, i) * headroom);
  if (startsAt === Infinity || !least.some((amount) => amount > 0)) return false;
  // It does not reckon with this one: it must have heard of it when it is due.
  if (pool.used.whenGone(least) < now + settleMsOf(agent, pool)) return false;
  const { amounts } = first;
  const spare = pool.used.goneBy(startsAt).map((gone, i) => gone + at(room, i) - at(amounts, i));
  for (let i = 0; i < cost.length; i++) {
    const others = at(before, i) - at(amounts, i);
    if (at(cost, i) + others > Math.min(at(room, i), at(spare, i))) return false;
  }
  return true;
}
