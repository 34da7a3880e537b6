import type { Clock, EndpointCount, LimitedBy, RateDecision } from "@hivepace/core";
import { isOneOfSeveral } from "../engine/agent.ts";
import { type Amounts, at } from "../engine/amounts.ts";
import { availableAt } from "../engine/available-at.ts";
import { pausedUntil } from "../engine/level.ts";
import type { Pool } from "../engine/pool.ts";
import { capacityOf } from "../engine/room.ts";
import { mayTake } from "../engine/take.ts";
import type { UseWindow } from "../engine/use-window.ts";
import type { Watched } from "../limiter/capacity-watch.ts";
import type { Member } from "../limiter/member.ts";
import { Tried } from "../limiter/tried.ts";
import { UNLIMITED } from "../wire/subjects.ts";
import type { Use } from "./amounts-of.ts";
import type { HiveDimension } from "./hive-types.ts";
import type { Learned } from "./limits.ts";
import type { Line } from "./line.ts";
import type { Scope } from "./scope.ts";

/** One quota of an endpoint, a model or a tenant key: the limits that have the same window, shared by all agents. */
export class Share implements Watched {
  readonly name: string;
  /** The endpoint and the model of these limits, or the tenant key. */
  readonly resource: string;
  readonly model: string | undefined;
  readonly #names: Readonly<Record<HiveDimension, LimitedBy>>;
  pool: Pool;
  dimensions: readonly HiveDimension[];
  readonly tried: Tried;
  readonly #member: Member;
  readonly #onChange: (now: number) => void;

  constructor(
    member: Member,
    target: Pick<Target, "id" | "model" | "models">,
    pool: Pool,
    dimensions: readonly HiveDimension[],
    clock: Clock,
    onChange: (now: number) => void,
    names: Readonly<Record<HiveDimension, LimitedBy>> = OF_SWARM,
  ) {
    this.name = pool.config.name;
    this.#names = names;
    this.resource = target.id;
    this.model = namesake(target);
    this.pool = pool;
    this.dimensions = dimensions;
    this.tried = new Tried(clock, (next, all, at) => this.want(next, all, at, true));
    this.#member = member;
    this.#onChange = onChange;
  }

  get burst(): number {
    return 0;
  }

  changed(now: number): void {
    this.#onChange(now);
  }

  /** True when the quota has exactly these dimensions, in this order. */
  counts(dimensions: readonly HiveDimension[]): boolean {
    return dimensions.length === this.dimensions.length && dimensions.every((name, i) => name === this.dimensions[i]);
  }

  amounts(use: Use): number[] {
    return this.dimensions.map((dimension) => use[dimension]);
  }

  /** Takes from this quota and from `others`, or from none of them. */
  take(use: Use, others: readonly Share[], now: number): boolean {
    const { host } = this.#member;
    const cost = this.amounts(use);
    if (others.length === 0) return host.do({ type: "take", pool: this.name, cost }, now);
    const also = others.map((share) => ({ pool: share.name, cost: share.amounts(use) }));
    return host.do({ type: "take", pool: this.name, cost, also }, now);
  }

  /** Corrects the usage of a call by `more`, which may be negative. Does nothing once the quota is removed. */
  settle(more: Amounts, sentAt: number): void {
    if (more.every((amount) => amount === 0) || !this.#member.agent.pools.has(this.name)) return;
    const { dimensions } = this.pool.config;
    this.#member.host.do({ type: "settle", pool: this.name, more, sentAt, dimensions });
  }

  /** Claims capacity for the next call. `tried` is true for demand of a denied `tryAcquire`, for which nobody waits. */
  want(next: Amounts | undefined, all: Amounts | undefined, now: number, tried = false): void {
    if (!this.#member.agent.pools.has(this.name)) return;
    this.#member.host.do({ type: "want", pool: this.name, next, ...(next && all ? { all } : {}), tried }, now);
  }

  /** True when `take` would succeed now. */
  mayTake(cost: Amounts, now: number): boolean {
    return mayTake(this.#member.agent, this.pool, cost, now);
  }

  /** True when `cost` exceeds the whole limit of a window. */
  isTooLarge(cost: Amounts): boolean {
    const { agent } = this.#member;
    const headroom = isOneOfSeveral(agent) ? agent.config.tuning.headroom : 0;
    return cost.some((amount, i) => amount > at(this.pool.limits, i) - Math.floor(at(this.pool.limits, i) * headroom));
  }

  /** Time until `cost` could be sent after everything `ahead`, without other demand; 0 when at once. */
  waitMs(cost: Amounts, ahead: Amounts | undefined, now: number): number {
    return Math.max(0, availableAt(this.#member.agent, this.pool, cost, ahead, now) - now);
  }

  /** The utilization of the limits, and the limit that `cost` would fill the most. */
  reading(cost: Amounts, now: number): ShareReading {
    const capacity = capacityOf(this.#member.agent, this.pool, now);
    const readingOf = (name: HiveDimension): readonly [used: number, limit: number] => {
      const i = this.dimensions.indexOf(name);
      const limit = i < 0 || at(this.pool.limits, i) >= UNLIMITED ? Infinity : at(capacity, i);
      return [i < 0 ? 0 : Math.max(0, at(this.pool.used.sum, i)), limit];
    };
    let tightest: HiveDimension = this.dimensions[0] ?? "requests";
    let utilization = 0;
    for (const [i, name] of this.dimensions.entries()) {
      const [used, limit] = readingOf(name);
      const part = limit === Infinity ? 0 : (used + at(cost, i)) / limit;
      if (part > utilization) [tightest, utilization] = [name, part];
    }
    const [currentRpm, limitRpm] = readingOf("requests");
    // Where input or output tokens are the tightest limit, their numbers are shown, as the manager does.
    const [currentTpm, limitTpm] = readingOf(tightest === "requests" ? "tokens" : tightest);
    const isPaused = now < pausedUntil(this.pool.level);
    return {
      dimension: tightest,
      limitedBy: isPaused ? "swarm-pause" : this.#names[tightest],
      utilization: Math.min(1, utilization),
      currentRpm,
      limitRpm,
      currentTpm,
      limitTpm,
    };
  }
}

/** The limits of a quota in the form of a decision. */
export interface ShareReading
  extends Pick<RateDecision, "utilization" | "currentRpm" | "limitRpm" | "currentTpm" | "limitTpm"> {
  readonly dimension: HiveDimension;
  readonly limitedBy: LimitedBy;
}

/** Names in denials for the limits of endpoints. */
const OF_SWARM = {
  requests: "swarm-rpm",
  tokens: "swarm-tpm",
  inputTokens: "swarm-input-tpm",
  outputTokens: "swarm-output-tpm",
} as const;

/** Names in denials for the limits of tenant keys. */
export const OF_KEY = {
  requests: "key-rpm",
  tokens: "key-tpm",
  inputTokens: "key-tpm",
  outputTokens: "key-tpm",
} as const;

/** The model that events, status and metrics show for a target: the first of its pool, or its own. */
export function namesake({ model, models }: Pick<Target, "model" | "models">): string | undefined {
  return models?.[0] ?? model;
}

/** Configured and learned limits, their quotas, and usage from before the first quota. */
export interface Limited {
  readonly id: string;
  readonly model: string | undefined;
  readonly models: readonly string[] | undefined;
  /** The configured limits. */
  count: EndpointCount;
  readonly learned: Learned;
  shares: readonly Share[];
  /** Usage from before there was a limit to share, in the order of `DIMENSIONS`. */
  unshared: UseWindow;
  /** The share that counts this usage since there is one. */
  counting: Share | undefined;
  /** The mean usage of calls: for requests that do not tell theirs. */
  typical: Use;
}

/** A model without configured limits: usage of its own, and limits that answers have shown for it alone. */
export interface ModelScope extends Limited, Omit<Scope, keyof Limited> {
  readonly model: string;
  readonly target: Target;
}

/** An endpoint, or one of its models or pools of them, and the line of those who wait for it. */
export interface Target extends Limited {
  inFlight: number;
  /** Models whose limits are learned one by one; undefined where all limits are configured or the target is a model. */
  byModel: Map<string, ModelScope> | undefined;
  /** The waiters; undefined when there are none. */
  line: Line | undefined;
  cancelTimer: (() => void) | undefined;
}
