import type { Clock } from "@hivepace/core";
import type { WaitingRoom } from "@hivepace/core/internal";
import { modeOf, partOf } from "../engine/agent.ts";
import { agreement } from "../engine/agreement.ts";
import { at, SLACK, scaled } from "../engine/amounts.ts";
import { claimsBefore, isHeard } from "../engine/claim.ts";
import { keptAfter } from "../engine/kept.ts";
import { pausedUntil } from "../engine/level.ts";
import type { Pool } from "../engine/pool.ts";
import { roomOf } from "../engine/room.ts";
import { KEPT, trust } from "../engine/silence.ts";
import type { Host } from "./host.ts";
import type { SwarmResource } from "./swarm-resource.ts";

/** A try that was denied counts as demand for so long. */
const TRIED_MS = 2_000;
/** It stands for at most so many calls. */
const MOST_DEPTH = 64;
/** Those who try in a loop need not say so each time. */
const SAY_AGAIN_MS = 50;

/** A limit that all agents hold together: the swarm engine decides. */
export class SharedResource implements SwarmResource {
  readonly name: string;
  pool: Pool;
  inFlight = 0;
  room: WaitingRoom | undefined = undefined;
  burstOption: number | undefined;
  readonly #host: Host;
  readonly #clock: Clock;
  /** Until then it only listens: what others have used of it must be heard first. */
  readonly #listensUntil: number;
  #isWaiting = false;
  readonly #onWaiting: (isWaiting: boolean) => void;
  #triedAt = -Infinity;
  #triedCost = 0;
  /** How many calls a denied try stands for: more when those before it were granted and there are still more. */
  #triedDepth = 1;
  #isGranted = false;
  #saidAt = -Infinity;
  #cancelTried: (() => void) | undefined;

  constructor(
    pool: Pool,
    host: Host,
    clock: Clock,
    listensUntil: number,
    onWaiting: (isWaiting: boolean) => void,
    burstOption: number | undefined,
  ) {
    this.name = pool.config.name;
    this.pool = pool;
    this.burstOption = burstOption;
    this.#host = host;
    this.#clock = clock;
    this.#listensUntil = listensUntil;
    this.#onWaiting = onWaiting;
  }

  /** What the swarm can hold when its level is whole. */
  get burst(): number {
    const { peers, config } = this.#host.agent;
    const limit = at(this.pool.limits, 0);
    return peers.size > 0 ? limit - Math.floor(limit * config.tuning.headroom) : limit;
  }

  take(cost: number, now: number): boolean {
    if (now < this.#listensUntil) return false;
    const isTaken = this.#host.do({ type: "take", pool: this.name, cost: [cost] }, now);
    if (isTaken) this.#isGranted = true;
    return isTaken;
  }

  /** Only `take` knows; a wait that is over is over. */
  readyAt(_cost: number, now: number): number {
    return now;
  }

  /** An estimate: at the pace of this agent's share. */
  waitMs(cost: number, now: number): number {
    const pauseMs = Math.max(0, pausedUntil(this.pool.level) - now, this.#listensUntil - now);
    const missing = cost - this.available(now);
    const share = this.share(now);
    const { windowMs } = this.pool.config;
    return pauseMs + (missing <= 0 ? 0 : share > 0 ? (missing / share) * windowMs : windowMs);
  }

  lineChanged(next: number | undefined, all: number, now: number): number {
    const isWaiting = next !== undefined;
    if (isWaiting !== this.#isWaiting) {
      this.#isWaiting = isWaiting;
      this.#onWaiting(isWaiting);
    }
    if (isWaiting) this.#forgetTried();
    this.#want(next, all, now);
    return now < this.#listensUntil ? this.#listensUntil : Infinity;
  }

  denied(cost: number, now: number): void {
    if (this.room || cost > this.burst) return;
    this.#triedAt = now;
    if (!this.#cancelTried) {
      this.#triedDepth = 1;
      this.#cancelTried = this.#clock.after(TRIED_MS, () => this.#stopTrying(), { background: true });
    } else if (this.#isGranted) this.#triedDepth = Math.min(MOST_DEPTH, 2 * this.#triedDepth);
    else if (cost === this.#triedCost && now - this.#saidAt < SAY_AGAIN_MS) return;
    this.#isGranted = false;
    this.#triedCost = cost;
    this.#saidAt = now;
    this.#want(cost, cost * this.#triedDepth, now);
  }

  /** Others may have counted on it already: what was taken stays taken. */
  giveBack(): void {}

  available(now: number): number {
    const { agent } = this.#host;
    const { pool } = this;
    if (now < pausedUntil(pool.level) || now < this.#listensUntil) return 0;
    const room = at(roomOf(agent, pool, now), 0);
    switch (modeOf(agent, now)) {
      case "listening":
        return 0;
      case "alone":
        return whole(room);
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
    const { agent } = this.#host;
    const mode = modeOf(agent, now);
    if (mode === "listening" || now < this.#listensUntil) return 0;
    const { kept, config } = this.pool;
    if (mode === "cut-off" && kept) {
      const silentMs = now - kept.since;
      const part = kept.isAgreed ? Math.max(KEPT[agent.config.isolation], trust(silentMs)) : 1;
      return at(scaled(keptAfter(kept, silentMs, config.windowMs), part), 0);
    }
    return at(agreement(agent, this.pool, now).get(undefined)?.to ?? [0], 0);
  }

  changed(): void {
    this.room?.refit();
  }

  close(): void {
    this.#forgetTried();
  }

  #want(next: number | undefined, all: number, now: number): void {
    const want = next === undefined ? { next } : { next: [next], all: [Math.max(next, all)] };
    this.#host.do({ type: "want", pool: this.name, ...want }, now);
  }

  #stopTrying(): void {
    this.#cancelTried = undefined;
    const restMs = this.#triedAt + TRIED_MS - this.#clock.now();
    if (restMs > 0) this.#cancelTried = this.#clock.after(restMs, () => this.#stopTrying(), { background: true });
    else if (!this.room) this.#want(undefined, 0, this.#clock.now());
  }

  #forgetTried(): void {
    this.#cancelTried?.();
    this.#cancelTried = undefined;
    this.#saidAt = -Infinity;
  }
}

function whole(amount: number): number {
  return Math.max(0, Math.floor(amount + SLACK));
}
