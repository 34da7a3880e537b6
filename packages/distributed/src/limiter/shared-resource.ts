import type { Clock, DecidingLimit, EventOrigin } from "@hivepace/core";
import type { WaitingRoom } from "@hivepace/core/internal";
import { isOneOfSeveral, modeIn, partOf } from "../engine/agent.ts";
import { leftOf } from "../engine/allotment.ts";
import { type Amounts, at, SLACK } from "../engine/amounts.ts";
import { availableAt } from "../engine/available-at.ts";
import { claimsBefore, isHeard } from "../engine/claim.ts";
import { pausedUntil } from "../engine/level.ts";
import { ownShare } from "../engine/own-share.ts";
import type { Pool } from "../engine/pool.ts";
import { roomOf } from "../engine/room.ts";
import type { Host } from "./host.ts";
import type { SwarmResource } from "./swarm-resource.ts";
import { Tried } from "./tried.ts";

/** A shared limit, decided by the engine. */
export class SharedResource implements SwarmResource {
  readonly name: string;
  readonly origin: EventOrigin;
  pool: Pool;
  inFlight = 0;
  room: WaitingRoom | undefined = undefined;
  burstOption: number | undefined;
  readonly #host: Host;
  readonly #clock: Clock;
  #isWaiting = false;
  readonly #onWaiting: (isWaiting: boolean) => void;
  readonly #tried: Tried;

  constructor(
    pool: Pool,
    host: Host,
    clock: Clock,
    onWaiting: (isWaiting: boolean) => void,
    burstOption: number | undefined,
  ) {
    this.name = pool.config.name;
    this.origin = { source: "distributed-limiter", agentId: host.agent.config.id };
    this.pool = pool;
    this.burstOption = burstOption;
    this.#host = host;
    this.#clock = clock;
    this.#onWaiting = onWaiting;
    this.#tried = new Tried(clock, (next, all, now) => this.#want(next, all, now, true));
  }

  /** The capacity of the swarm at the full level. */
  get burst(): number {
    const { agent } = this.#host;
    const limit = at(this.pool.limits, 0);
    return isOneOfSeveral(agent) ? limit - Math.floor(limit * agent.config.tuning.headroom) : limit;
  }

  limitedBy(now: number): DecidingLimit {
    return now < pausedUntil(this.pool.level) ? "swarm-pause" : "capacity";
  }

  take(cost: number, now: number): boolean {
    const isTaken = this.#host.do({ type: "take", pool: this.name, cost: [cost] }, now);
    if (isTaken) this.#tried.granted();
    return isTaken;
  }

  /** Always now, because only `take` can tell. */
  readyAt(_cost: number, now: number): number {
    return now;
  }

  /** Exact for a lone agent without further demand; an estimate in a swarm. */
  waitMs(cost: number, now: number, ahead = 0): number {
    const { agent } = this.#host;
    const at = availableAt(agent, this.pool, [cost], ahead > 0 ? [ahead] : undefined, now);
    return Math.max(0, at - now);
  }

  lineChanged(next: number | undefined, all: number, now: number): number {
    const isWaiting = next !== undefined;
    if (isWaiting !== this.#isWaiting) {
      this.#isWaiting = isWaiting;
      this.#onWaiting(isWaiting);
    }
    if (isWaiting) this.#tried.forget();
    this.#want(next === undefined ? undefined : [next], [Math.max(next ?? 0, all)], now);
    return Infinity;
  }

  denied(cost: number, now: number): void {
    if (!this.room && cost <= this.burst) this.#tried.denied([cost], now);
  }

  /** Does nothing: peers may have counted the usage already. */
  giveBack(): void {}

  available(now: number): number {
    const { agent } = this.#host;
    const { pool } = this;
    if (now < pausedUntil(pool.level)) return 0;
    const room = at(roomOf(agent, pool, now), 0);
    switch (modeIn(agent, pool, now)) {
      case "listening":
        return 0;
      case "alone":
        return whole(room);
      case "served":
        return whole(at(leftOf(pool), 0));
      case "cut-off":
        return whole(this.share(now) - at(pool.own.sum, 0));
      case "member": {
        const { claim } = pool;
        if (claim)
          return isHeard(agent, pool, claim, now)
            ? whole(Math.min(at(claim.amounts, 0), room - at(claimsBefore(pool), 0)))
            : 0;
        const blind = at(pool.blind, 0);
        return whole((room - at(pool.claimed, 0) + blind) * partOf(agent, now) - blind);
      }
    }
  }

  share(now: number): number {
    return at(ownShare(this.#host.agent, this.pool, now), 0);
  }

  changed(): void {
    this.room?.refit();
  }

  /** Withdraws the demand of denied tries: a claim that outlives its resource would delay the other agents. */
  close(): void {
    this.#tried.forget();
    this.#want(undefined, undefined, this.#clock.now());
  }

  #want(next: Amounts | undefined, all: Amounts | undefined, now: number, tried = false): void {
    this.#host.do({ type: "want", pool: this.name, next, ...(next && all ? { all } : {}), tried }, now);
  }
}

function whole(amount: number): number {
  return Math.max(0, Math.floor(amount + SLACK));
}
