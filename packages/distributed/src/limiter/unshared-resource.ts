import { type DecidingLimit, type EventOrigin, TokenBucket } from "@hivepace/core";
import type { WaitingRoom } from "@hivepace/core/internal";
import { at, pausedUntil, type Quota } from "../engine/index.ts";
import type { SwarmResource } from "./swarm-resource.ts";
import { totalOf } from "./total.ts";

/** A limit that each agent has for itself. Only the level is shared. */
export class UnsharedResource implements SwarmResource {
  readonly name: string;
  readonly origin: EventOrigin;
  quota: Quota;
  inFlight = 0;
  room: WaitingRoom | undefined = undefined;
  burstOption: number | undefined;
  slots: Quota | undefined;
  readonly #bucket: TokenBucket;

  constructor(quota: Quota, now: number, burstOption: number | undefined, agentId: string) {
    this.name = quota.config.name;
    this.origin = { source: "distributed-limiter", agentId };
    this.quota = quota;
    this.burstOption = burstOption;
    this.#bucket = new TokenBucket(this.#limit(now), now);
  }

  /** The burst at the full level. */
  get burst(): number {
    return this.burstOption ?? at(this.quota.limits, 0);
  }

  limitedBy(now: number): DecidingLimit {
    if (now < pausedUntil(this.quota.backoff.level)) return "swarm-pause";
    return this.#isFull ? "swarm-in-flight" : "capacity";
  }

  take(cost: number, now: number): boolean {
    return now >= pausedUntil(this.quota.backoff.level) && !this.#isFull && this.#bucket.take(cost, now);
  }

  readyAt(cost: number, now: number): number {
    return Math.max(pausedUntil(this.quota.backoff.level), this.#bucket.readyAt(cost, now));
  }

  waitMs(cost: number, now: number, ahead = 0): number {
    return Math.max(0, pausedUntil(this.quota.backoff.level) - now, this.#bucket.waitMs(ahead + cost, now));
  }

  lineChanged(next: number | undefined, _all: number, now: number): number {
    // While all slots are in use, the end of a call serves the line, so no time is planned.
    return next === undefined || this.#isFull ? Infinity : this.readyAt(next, now);
  }

  denied(): void {}

  ended(): void {
    if (this.slots) this.room?.serve();
  }

  /** True when all slots are in use. Each agent has the slots for itself, as it has the limit. */
  get #isFull(): boolean {
    return this.slots !== undefined && this.inFlight >= at(this.slots.config.limits, 0);
  }

  giveBack(cost: number, now: number): void {
    this.#bucket.give(cost, now);
    this.room?.serve();
  }

  available(now: number): number {
    return now < pausedUntil(this.quota.backoff.level) ? 0 : Math.max(0, this.#bucket.wholeTokens(now));
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
    const capacity = totalOf(this.quota, now);
    const level = capacity / at(this.quota.limits, 0);
    return { capacity, windowMs: this.quota.config.windowMs, burst: this.burst * level };
  }
}
