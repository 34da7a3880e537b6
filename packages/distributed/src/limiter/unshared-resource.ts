import { type DecidingLimit, type EventOrigin, TokenBucket } from "@hivepace/core";
import type { WaitingRoom } from "@hivepace/core/internal";
import { at } from "../engine/amounts.ts";
import { pausedUntil } from "../engine/level.ts";
import type { Pool } from "../engine/pool.ts";
import type { SwarmResource } from "./swarm-resource.ts";
import { totalOf } from "./total.ts";

/** A limit that each agent has for itself. Only the level is shared. */
export class UnsharedResource implements SwarmResource {
  readonly name: string;
  readonly origin: EventOrigin;
  pool: Pool;
  inFlight = 0;
  room: WaitingRoom | undefined = undefined;
  burstOption: number | undefined;
  readonly #bucket: TokenBucket;

  constructor(pool: Pool, now: number, burstOption: number | undefined, agentId: string) {
    this.name = pool.config.name;
    this.origin = { source: "distributed-limiter", agentId };
    this.pool = pool;
    this.burstOption = burstOption;
    this.#bucket = new TokenBucket(this.#limit(now), now);
  }

  /** The burst at the full level. */
  get burst(): number {
    return this.burstOption ?? at(this.pool.limits, 0);
  }

  limitedBy(now: number): DecidingLimit {
    return now < pausedUntil(this.pool.level) ? "swarm-pause" : "capacity";
  }

  take(cost: number, now: number): boolean {
    return now >= pausedUntil(this.pool.level) && this.#bucket.take(cost, now);
  }

  readyAt(cost: number, now: number): number {
    return Math.max(pausedUntil(this.pool.level), this.#bucket.readyAt(cost, now));
  }

  waitMs(cost: number, now: number, ahead = 0): number {
    return Math.max(0, pausedUntil(this.pool.level) - now, this.#bucket.waitMs(ahead + cost, now));
  }

  lineChanged(next: number | undefined, _all: number, now: number): number {
    return next === undefined ? Infinity : this.readyAt(next, now);
  }

  denied(): void {}

  giveBack(cost: number, now: number): void {
    this.#bucket.give(cost, now);
    this.room?.serve();
  }

  available(now: number): number {
    return now < pausedUntil(this.pool.level) ? 0 : Math.max(0, this.#bucket.wholeTokens(now));
  }

  share(now: number): number {
    return this.#limit(now).capacity;
  }

  changed(now: number): void {
    this.#bucket.resize(this.#limit(now), now);
    this.room?.refit();
  }

  close(): void {}

  #limit(now: number) {
    const capacity = totalOf(this.pool, now);
    const level = capacity / at(this.pool.limits, 0);
    return { capacity, windowMs: this.pool.config.windowMs, burst: this.burst * level };
  }
}
