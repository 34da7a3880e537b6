import { type Agent, modeIn, partOf } from "../engine/agent.ts";
import { agreement } from "../engine/agreement.ts";
import { type Amounts, addTo, at, fits, zeros } from "../engine/amounts.ts";
import type { Effects, Event } from "../engine/events.ts";
import { isLater, type Level } from "../engine/level.ts";
import type { Pool } from "../engine/pool.ts";
import { capacityOf, roomOf } from "../engine/room.ts";
import { isBefore } from "../engine/turn.ts";

const CLOSE = 1e-3;
/** With so many agents everything is looked at after every step; with more, what takes longer then, less often. */
const SMALL = 10;

/** What the world knows and no agent does. */
export interface LawsOptions {
  readonly agents: number;
  /** The longest that a message can be under way, a stop of its reader included. */
  readonly transitMs: number;
  /** By how much clocks are off at most, as a part. */
  readonly drift: number;
}

/** What must hold for every agent after every step, whatever happens. Throws when it does not. */
export class Laws {
  readonly #options: LawsOptions;
  /** Each so many steps the sums of claims are counted anew, and each so many wakes the agreement is. */
  readonly #sumsEvery: number;
  readonly #levels = new WeakMap<Pool, Level>();
  /** When each cut was made, in the world's time. When all who knew of one are gone, the next may be called the same. */
  readonly #cuts = new Map<string, number[]>();
  #steps = 0;
  #wakes = 0;

  constructor(options: LawsOptions) {
    this.#options = options;
    // It takes longer the more there are, and all of them take steps.
    this.#sumsEvery = Math.ceil(options.agents / SMALL) ** 2;
  }

  check(agent: Agent, event: Event, effects: Effects, now: number, worldNow: number): void {
    const broken = this.#brokenBy(agent, event, effects, now, worldNow);
    if (broken) throw new Error(`${agent.config.id}: ${broken} (at ${now}, after ${event.type})`);
  }

  #brokenBy(agent: Agent, event: Event, effects: Effects, now: number, worldNow: number): string | undefined {
    if (effects.wakeAt < now) return "no timer is in the past";
    if (agent.peers.size > 4 * this.#options.agents + 16) return "the dead are forgotten";
    for (const [name, pool] of agent.pools) {
      const taken = effects.taken && event.type === "take" && event.pool === name;
      const mode = modeIn(agent, pool, now);
      if (taken && mode === "served" && !fits(pool.sent, pool.allotment?.allowed ?? []))
        return "nothing is sent that the store has not handed out";
      if (taken && mode !== "cut-off" && mode !== "served" && !isPositive(roomOf(agent, pool, now)))
        return "nothing is sent for which the window has no room";
      if (taken && mode === "listening") return "one that listens sends nothing";
      if (taken && mode === "member" && !pool.claim && !isOwnPart(agent, pool, now))
        return "without a claim nobody takes more than its part, so that all together take no more than is free";
      const broken = this.#brokenIn(agent, pool, event, now, worldNow) ?? this.#brokenSums(agent, pool, event, now);
      if (broken) return broken;
    }
    return undefined;
  }

  #brokenIn(agent: Agent, pool: Pool, event: Event, now: number, worldNow: number): string | undefined {
    const before = this.#levels.get(pool);
    if (before !== pool.level) {
      if (before && isLater(before, pool.level)) return "a level is never replaced by an earlier one";
      this.#levels.set(pool, pool.level);
      const isMade = event.type === "refused" && pool.level.cutAt === now;
      if (!this.#isCutInTime(pool.level, isMade, now, worldNow))
        return "a cut has the same age everywhere, but for the way";
    }
    if (!isPositive(pool.blind) || !isPositive(pool.claimed)) return "sums are never below nothing";
    if (pool.claim && !isPositive(pool.claim.amounts)) return "a claim is never overdrawn";
    if (pool.reports.length > 1_000 || pool.claimants.size > agent.peers.size) return "what is known does not pile up";
    return undefined;
  }

  /** The agreement is made only when someone wakes and finds others silent, or itself cut off: it is looked at then. */
  #brokenSums(agent: Agent, pool: Pool, { type }: Event, now: number): string | undefined {
    if (agent.store) return undefined;
    const broken = ++this.#steps % this.#sumsEvery === 0 ? brokenClaims(pool) : undefined;
    if (broken || type !== "wake" || ++this.#wakes % this.#sumsEvery !== 0) return broken;
    return isAgreementWithin(agent, pool, now) ? undefined : "shares sum up to the capacity at most";
  }

  /** With equal ages all are on the same step of the recovery: nobody earlier, and later only by the way of a message. */
  #isCutInTime({ epoch, base, round, origin, cutAt }: Level, isMade: boolean, now: number, worldNow: number): boolean {
    if (epoch === 0) return true;
    const key = `${epoch} ${base} ${round} ${origin}`;
    const ageMs = now - cutAt;
    const cutAtWorld = worldNow - ageMs;
    const made = this.#cuts.get(key);
    if (!made || isMade) {
      this.#cuts.set(key, [...(made ?? []), cutAtWorld]);
      return true;
    }
    const { transitMs, drift } = this.#options;
    const inexactMs = 2 + 4 * drift * ageMs;
    return made.some((at) => cutAtWorld >= at - inexactMs && cutAtWorld <= at + 4 * transitMs + inexactMs);
  }
}

/** What it has used and others may not know of is no more than its part of that and of what is free. */
function isOwnPart(agent: Agent, pool: Pool, now: number): boolean {
  const room = roomOf(agent, pool, now);
  const part = partOf(agent, now);
  return pool.blind.every((blind, i) => blind <= (at(room, i) - at(pool.claimed, i) + blind) * part + CLOSE);
}

function brokenClaims(pool: Pool): string | undefined {
  const before = zeros(pool.limits.length);
  const claimed = zeros(pool.limits.length);
  for (const { claim } of pool.claimants) {
    if (!claim) return "who claims nothing is no claimant";
    addTo(claimed, claim.amounts);
    if (pool.claim && isBefore(claim, pool.claim)) addTo(before, claim.amounts);
  }
  if (!isClose(pool.claimed, claimed)) return "the sum of claims is the sum of the claims";
  return pool.before && pool.claim && !isClose(pool.before, before) ? "so is the sum of those before" : undefined;
}

function isAgreementWithin(agent: Agent, pool: Pool, now: number): boolean {
  const agreed = [...agreement(agent, pool, now).values()];
  return capacityOf(agent, pool, now).every((amount, i) => {
    const promised = at(pool.used.sum, i) + at(pool.claimed, i) + (pool.claim ? at(pool.claim.amounts, i) : 0);
    const most = Math.max(amount, promised, at(pool.own.sum, i)) + CLOSE;
    const sum = (end: "from" | "to") => agreed.reduce((all, kept) => all + at(kept[end], i), 0);
    return sum("from") <= most && sum("to") <= amount + CLOSE;
  });
}

function isPositive(amounts: Amounts): boolean {
  for (let i = 0; i < amounts.length; i++) if (at(amounts, i) < -CLOSE) return false;
  return true;
}

function isClose(a: Amounts, b: Amounts): boolean {
  return a.every((amount, i) => Math.abs(amount - at(b, i)) < CLOSE);
}
