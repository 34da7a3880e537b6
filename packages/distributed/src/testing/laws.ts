import { type Agent, modeOf } from "../engine/agent.ts";
import { agreement } from "../engine/agreement.ts";
import { type Amounts, addTo, at, zeros } from "../engine/amounts.ts";
import type { Effects, Event } from "../engine/events.ts";
import { isLater, type Level } from "../engine/level.ts";
import type { Pool } from "../engine/pool.ts";
import { capacityOf } from "../engine/room.ts";
import { isBefore } from "../engine/turn.ts";

const CLOSE = 1e-3;
/** What takes long is looked at only now and then. */
const EVERY = 997;

/** What must hold for every agent after every step, whatever happens. Throws when it does not. */
export class Laws {
  readonly #levels = new WeakMap<Pool, Level>();
  readonly #agents: number;
  #steps = 0;

  constructor(agents: number) {
    this.#agents = agents;
  }

  check(agent: Agent, event: Event, effects: Effects, now: number): void {
    const broken = this.#brokenBy(agent, effects, now);
    if (broken) throw new Error(`${agent.config.id}: ${broken} (at ${now}, after ${event.type})`);
  }

  #brokenBy(agent: Agent, effects: Effects, now: number): string | undefined {
    if (effects.taken && modeOf(agent, now) === "listening") return "one that listens sends nothing";
    if (effects.wakeAt < now) return "no timer is in the past";
    if (agent.peers.size > 4 * this.#agents + 16) return "the dead are forgotten";
    for (const pool of agent.pools.values()) {
      const before = this.#levels.get(pool);
      if (before !== pool.level) {
        if (before && isLater(before, pool.level)) return "a level is never replaced by an earlier one";
        this.#levels.set(pool, pool.level);
      }
      if (!isPositive(pool.blind) || !isPositive(pool.claimed)) return "sums are never below nothing";
      if (pool.claim && !isPositive(pool.claim.amounts)) return "a claim is never overdrawn";
      if (pool.reports.length > 1_000) return "reports do not pile up";
      const broken = ++this.#steps % EVERY === 0 ? this.#lookCloser(agent, pool, now) : undefined;
      if (broken) return broken;
    }
    return undefined;
  }

  #lookCloser(agent: Agent, pool: Pool, now: number): string | undefined {
    const before = zeros(pool.limits.length);
    const claimed = zeros(pool.limits.length);
    for (const claim of pool.claims.values()) {
      addTo(claimed, claim.amounts);
      if (pool.claim && isBefore(claim, pool.claim)) addTo(before, claim.amounts);
    }
    if (!isClose(pool.claimed, claimed)) return "the sum of claims is the sum of the claims";
    if (pool.before && pool.claim && !isClose(pool.before, before)) return "so is the sum of those before";
    const agreed = [...agreement(agent, pool, now).values()];
    const capacity = capacityOf(agent, pool, now);
    const isWithin = capacity.every((amount, i) => {
      const promised = at(pool.used.sum, i) + at(pool.claimed, i) + (pool.claim ? at(pool.claim.amounts, i) : 0);
      const most = Math.max(amount, promised, at(pool.own.sum, i)) + CLOSE;
      const sum = (end: "from" | "to") => agreed.reduce((all, kept) => all + at(kept[end], i), 0);
      return sum("from") <= most && sum("to") <= amount + CLOSE;
    });
    return isWithin ? undefined : "shares sum up to the capacity at most";
  }
}

function isPositive(amounts: Amounts): boolean {
  for (let i = 0; i < amounts.length; i++) if (at(amounts, i) < -CLOSE) return false;
  return true;
}

function isClose(a: Amounts, b: Amounts): boolean {
  return a.every((amount, i) => Math.abs(amount - at(b, i)) < CLOSE);
}
