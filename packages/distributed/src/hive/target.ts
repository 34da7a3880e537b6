import type { EndpointCount, RateDecision } from "@hivepace/core";
import { isOneOfSeveral, modeOf } from "../engine/agent.ts";
import { type Amounts, at, fits } from "../engine/amounts.ts";
import { keptAt } from "../engine/kept.ts";
import { pausedUntil } from "../engine/level.ts";
import type { Pool } from "../engine/pool.ts";
import { capacityOf, roomOf } from "../engine/room.ts";
import type { UseWindow } from "../engine/use-window.ts";
import type { Watched } from "../limiter/capacity-watch.ts";
import type { Member } from "../limiter/member.ts";
import type { Tried } from "../limiter/tried.ts";
import { UNLIMITED } from "../wire/subjects.ts";
import type { Use } from "./amounts-of.ts";
import type { HiveDimension } from "./hive-types.ts";
import type { Learned } from "./limits.ts";
import type { Line } from "./line.ts";

/** The limits of a target that have one window, which all agents hold together. */
export class Share implements Watched {
  readonly name: string;
  /** The endpoint whose limits these are, and the model that names them. */
  readonly resource: string;
  readonly model: string | undefined;
  pool: Pool;
  dimensions: readonly HiveDimension[];
  /** It only listens until then: what others have used of it must be heard first. */
  readonly listensUntil: number;
  readonly tried: Tried;
  readonly #member: Member;
  readonly #onChange: (now: number) => void;

  constructor(
    member: Member,
    target: Pick<Target, "id" | "model" | "models">,
    pool: Pool,
    dimensions: readonly HiveDimension[],
    listensUntil: number,
    tried: Tried,
    onChange: (now: number) => void,
  ) {
    this.name = pool.config.name;
    this.resource = target.id;
    this.model = namesake(target);
    this.pool = pool;
    this.dimensions = dimensions;
    this.listensUntil = listensUntil;
    this.tried = tried;
    this.#member = member;
    this.#onChange = onChange;
  }

  get burst(): number {
    return 0;
  }

  changed(now: number): void {
    this.#onChange(now);
  }

  amounts(use: Use): number[] {
    return this.dimensions.map((dimension) => use[dimension]);
  }

  take(cost: Amounts, now: number): boolean {
    return now >= this.listensUntil && this.#member.host.do({ type: "take", pool: this.name, cost }, now);
  }

  /** More was used than was taken for it, or less. Nothing to do once the limit is gone. */
  settle(more: Amounts, sentAt: number): void {
    if (more.every((amount) => amount === 0) || !this.#member.agent.pools.has(this.name)) return;
    const { dimensions } = this.pool.config;
    this.#member.host.do({ type: "settle", pool: this.name, more, sentAt, dimensions });
  }

  want(next: Amounts | undefined, all: Amounts | undefined, now: number): void {
    if (!this.#member.agent.pools.has(this.name)) return;
    this.#member.host.do({ type: "want", pool: this.name, next, ...(next && all ? { all } : {}) }, now);
  }

  /** No window of the whole limit holds so much. */
  isTooLarge(cost: Amounts): boolean {
    const { agent } = this.#member;
    const headroom = isOneOfSeveral(agent) ? agent.config.tuning.headroom : 0;
    return cost.some((amount, i) => amount > at(this.pool.limits, i) - Math.floor(at(this.pool.limits, i) * headroom));
  }

  /** After so long there could be room, if nobody else took it; at least a millisecond. */
  waitMs(cost: Amounts, now: number): number {
    const { used, config } = this.pool;
    const pauseMs = this.#heldMs(cost, now);
    const room = roomOf(this.#member.agent, this.pool, now);
    if (fits(cost, room)) return Math.max(1, pauseMs);
    const freeAt = used.whenGone(cost.map((amount, i) => amount - at(room, i)));
    return Math.max(1, pauseMs, Math.min(config.windowMs, freeAt - now));
  }

  /** The same, and 0 when there is room now. */
  freesInMs(cost: Amounts, now: number): number {
    return this.#heldMs(cost, now) === 0 && fits(cost, roomOf(this.#member.agent, this.pool, now))
      ? 0
      : this.waitMs(cost, now);
  }

  /** For so long nothing goes, whatever room there is: all pause, this agent only listens, or it is cut off and keeps to its part. */
  #heldMs(cost: Amounts, now: number): number {
    const { agent } = this.#member;
    const { level, config } = this.pool;
    const mode = modeOf(agent, now);
    const { listen, heartbeatMs } = agent.config.tuning;
    const heldUntil = mode === "listening" ? agent.joinedAt + listen * heartbeatMs : -Infinity;
    const keptMs = mode === "cut-off" ? Math.min(config.windowMs, keptAt(agent, this.pool, cost, now) - now) : 0;
    return Math.max(0, pausedUntil(level) - now, this.listensUntil - now, heldUntil - now, keptMs);
  }

  /** What `RateDecision` says of a denial. */
  denial(cost: Amounts, decision: RateDecision, now: number): RateDecision {
    const { agent } = this.#member;
    const capacity = capacityOf(agent, this.pool, now);
    const isTooLarge = this.isTooLarge(cost);
    const isPaused = now < pausedUntil(this.pool.level);
    const used = (name: HiveDimension): readonly [used: number, limit: number] => {
      const i = this.dimensions.indexOf(name);
      const limit = i < 0 || at(this.pool.limits, i) >= UNLIMITED ? Infinity : at(capacity, i);
      return [i < 0 ? 0 : Math.max(0, at(this.pool.used.sum, i)), limit];
    };
    const parts = this.dimensions.map((name, i) => {
      const [sum, limit] = used(name);
      return { name, part: limit === Infinity ? 0 : (sum + at(cost, i)) / limit };
    });
    const tightest = parts.reduce((most, one) => (one.part > most.part ? one : most));
    const [currentRpm, limitRpm] = used("requests");
    const [currentTpm, limitTpm] = used("tokens");
    return {
      allowed: false,
      currentRpm,
      limitRpm,
      currentTpm,
      limitTpm,
      utilization: Math.min(1, tightest.part),
      windowStart: decision.windowStart,
      retryAfterMs: isTooLarge ? undefined : Math.ceil(this.waitMs(cost, now)),
      limitedBy: isPaused ? "swarm-pause" : LIMITED_BY[tightest.name],
      reason: isTooLarge ? "too-large" : "rate",
    };
  }
}

const LIMITED_BY = {
  requests: "swarm-rpm",
  tokens: "swarm-tpm",
  inputTokens: "swarm-input-tpm",
  outputTokens: "swarm-output-tpm",
} as const;

/** By which of its models a target is called, where it has any: in events, the status and metrics. */
export function namesake({ model, models }: Pick<Target, "model" | "models">): string | undefined {
  return models?.[0] ?? model;
}

/** An endpoint, or one of its models or pools of them: what is limited together, and who waits for it. */
export interface Target {
  readonly id: string;
  readonly model: string | undefined;
  readonly models: readonly string[] | undefined;
  /** As configured. */
  count: EndpointCount;
  readonly learned: Learned;
  shares: readonly Share[];
  /** What was used while there was no limit to share, in the order of `DIMENSIONS`. */
  unshared: UseWindow;
  /** Where that is counted since there is one. */
  counting: Share | undefined;
  inFlight: number;
  /** There only while somebody waits. */
  line: Line | undefined;
  cancelTimer: (() => void) | undefined;
}
