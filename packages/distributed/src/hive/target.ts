import type { Clock, EndpointCount, LimitedBy, RateDecision } from "@hivepace/core";
import {
  type Amounts,
  at,
  availableAt,
  capacityOf,
  type DatedUsage,
  fits,
  isZero,
  largestCost,
  mayTake,
  pausedUntil,
  type Quota,
  type QuotaPart,
  swarmUsageOf,
  type UsageWindow,
  zeros,
} from "../engine/index.ts";
import type { Watched } from "../limiter/capacity-watch.ts";
import type { Member } from "../limiter/member.ts";
import type { SlotLimit } from "../limiter/slot-config.ts";
import { UnmetDemand } from "../limiter/unmet-demand.ts";
import { UNLIMITED } from "../wire/subjects.ts";
import type { Use } from "./amounts-of.ts";
import type { HiveDimension, WindowLimit } from "./hive-types.ts";
import type { Learned } from "./limits.ts";
import type { Line } from "./line.ts";
import type { Scope } from "./scope.ts";

/** The end of a call that holds a slot, as a correction. */
const RETURNED: Amounts = [-1];

/** One quota of an endpoint, a model or a tenant key: the limits that have the same window, shared by all agents. */
export class Share implements Watched, QuotaPart {
  readonly name: string;
  /** The endpoint and the model of these limits, or the tenant key. */
  readonly resource: string;
  readonly model: string | undefined;
  readonly #names: Readonly<Record<HiveDimension, LimitedBy>>;
  quota: Quota;
  readonly dimensions: readonly HiveDimension[];
  readonly tried: UnmetDemand;
  /** The cost of the call that is being decided. The engine copies the amounts that it keeps. */
  readonly cost: number[];
  /** The correction that is being applied. */
  readonly #more: number[];
  readonly #member: Member;
  readonly #onChange: (now: number) => void;

  constructor(
    member: Member,
    target: Pick<Target, "id" | "model" | "models">,
    quota: Quota,
    dimensions: readonly HiveDimension[],
    clock: Clock,
    onChange: (now: number) => void,
    names: Readonly<Record<HiveDimension, LimitedBy>> = OF_SWARM,
  ) {
    this.name = quota.config.name;
    this.#names = names;
    this.resource = target.id;
    this.model = namesake(target);
    this.quota = quota;
    this.dimensions = dimensions;
    this.cost = zeros(dimensions.length);
    this.#more = zeros(dimensions.length);
    this.tried = new UnmetDemand(clock, (next, all, at) => this.want(next, all, at, true));
    this.#member = member;
    this.#onChange = onChange;
  }

  get burst(): number {
    return 0;
  }

  /** True for a limit on calls under way, where each call returns its slot when it ends. */
  get isSlots(): boolean {
    return this.quota.config.leaseMs !== undefined;
  }

  /** Ends a call that started at `startedAt`. Does nothing for a rate. */
  release(startedAt: number, now: number): void {
    if (this.isSlots) this.settle(RETURNED, startedAt, now);
  }

  /** Restarts the lease of a call that continues. */
  renew(): void {
    if (this.isSlots && this.#member.agent.quotas.has(this.name))
      this.#member.runner.do({ type: "renewed", quota: this.name });
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

  /** Sets `cost` to the cost of a call that is about to be decided. */
  price(use: Use): void {
    const { dimensions, cost } = this;
    for (let i = 0; i < dimensions.length; i++) cost[i] = use[dimensions[i] as HiveDimension];
  }

  /** Takes the `cost` of each of these quotas, of which this is one, from all of them or from none. */
  takeWith(all: readonly Share[], now: number): boolean {
    return this.#member.runner.take(all, now);
  }

  /** Corrects the usage of a call by `more`, in the dimensions of this quota. */
  correct(more: Use, sentAt: number, now: number): void {
    const amounts = this.#more;
    for (let i = 0; i < amounts.length; i++) amounts[i] = more[this.dimensions[i] as HiveDimension];
    this.settle(amounts, sentAt, now);
  }

  /** Corrects the usage of a call by `more`, which may be negative. Does nothing once the quota is removed. */
  settle(more: Amounts, sentAt: number, now: number): void {
    if (!isZero(more)) this.#member.runner.settle(this.name, more, this.quota.config.dimensions, sentAt, now);
  }

  /** Counts usage of this agent from before this share existed. */
  countEarlier(usage: readonly DatedUsage[], now: number): void {
    this.#member.runner.do({ type: "earlier-usage", quota: this.name, usage }, now);
  }

  /**
   * Claims capacity for the next call. `tried` is true for the demand of a denied `tryAcquire`, which has no waiter.
   */
  want(next: Amounts | undefined, all: Amounts | undefined, now: number, tried = false): void {
    if (!this.#member.agent.quotas.has(this.name)) return;
    this.#member.runner.do({ type: "want", quota: this.name, next, ...(next && all ? { all } : {}), tried }, now);
  }

  /** True when `take` would succeed now. */
  mayTake(cost: Amounts, now: number): boolean {
    return mayTake(this.#member.agent, this.quota, cost, now);
  }

  /** True when a call of this cost needs no claim to be sent now. Withdraws a claim that is used up. */
  isOpen(cost: Amounts, now: number): boolean {
    // A store withdraws a grant without demand.
    if (this.#member.agent.store?.isStore) return false;
    const { own } = this.quota.claims;
    if (own && fits(cost, own.amounts)) return false;
    if (own) this.want(undefined, undefined, now);
    return this.mayTake(cost, now);
  }

  /** True when `cost` exceeds the whole limit of a window. */
  isTooLarge(cost: Amounts): boolean {
    const largest = largestCost(this.#member.agent, this.quota);
    for (let i = 0; i < cost.length; i++) if (at(cost, i) > at(largest, i)) return true;
    return false;
  }

  /** Time until `cost` could be sent after all of `ahead`, without other demand; 0 for now. */
  waitMs(cost: Amounts, ahead: Amounts | undefined, now: number): number {
    return Math.max(0, availableAt(this.#member.agent, this.quota, cost, ahead, now) - now);
  }

  /** The utilization of the limits, and the limit that `cost` would fill the most. */
  reading(cost: Amounts, now: number): ShareReading {
    const capacity = capacityOf(this.#member.agent, this.quota, now);
    const usage = swarmUsageOf(this.quota, now);
    const { dimensions } = this;
    const usedOf = (i: number): number => (i < 0 ? 0 : Math.max(0, at(usage, i)));
    const limitOf = (i: number): number =>
      i < 0 || at(this.quota.limits, i) >= UNLIMITED ? Infinity : at(capacity, i);
    let tightest: HiveDimension = dimensions[0] ?? "requests";
    let utilization = 0;
    for (let i = 0; i < dimensions.length; i++) {
      const part = (usedOf(i) + at(cost, i)) / limitOf(i);
      if (part > utilization) [tightest, utilization] = [dimensions[i] as HiveDimension, part];
    }
    const requests = dimensions.indexOf("requests");
    // Where input or output tokens are the tightest limit, their numbers are shown, as the manager does.
    const tokens = dimensions.indexOf(tightest === "requests" ? "tokens" : tightest);
    const isPaused = now < pausedUntil(this.quota.backoff.level);
    return {
      dimension: tightest,
      limitedBy: isPaused ? "swarm-pause" : this.#names[tightest],
      utilization: Math.min(1, utilization),
      currentRpm: usedOf(requests),
      limitRpm: limitOf(requests),
      currentTpm: usedOf(tokens),
      limitTpm: limitOf(tokens),
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

/** Names in denials for limits on calls under way. */
export const SLOTS_OF_SWARM = { ...OF_SWARM, requests: "swarm-in-flight" } as const;

/** Names in denials for the limits of tenant keys. */
export const OF_KEY = {
  requests: "key-rpm",
  tokens: "key-tpm",
  inputTokens: "key-tpm",
  outputTokens: "key-tpm",
} as const;

/** Names in denials for limits on the calls of a tenant key that are under way. */
export const SLOTS_OF_KEY = { ...OF_KEY, requests: "key-in-flight" } as const;

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
  /** Usage from before the first shared limit, in the order of `DIMENSIONS`. */
  unshared: UsageWindow;
  /** The share that took over the usage in `unshared` when the first shared limit was set. */
  counting: Share | undefined;
  /** Maximum number of calls of all agents under way; undefined for no limit. */
  slots: SlotLimit | undefined;
  /** Configured limits over windows of their own. */
  windows: readonly WindowLimit[];
  /** Mean usage of calls, for requests that do not state theirs. */
  typical: Use;
}

/** A model without configured limits: its usage, and the limits that answers have shown for this model alone. */
export interface ModelScope extends Limited, Omit<Scope, keyof Limited> {
  readonly model: string;
  readonly target: Target;
}

/** An endpoint, one of its models or a pool of models, and the line of its waiters. */
export interface Target extends Limited {
  inFlight: number;
  /** Models whose limits are learned one by one; undefined where all limits are configured or the target is a model. */
  byModel: Map<string, ModelScope> | undefined;
  /** The waiters; undefined when there are none. */
  line: Line | undefined;
  cancelTimer: (() => void) | undefined;
}
