import { type Clock, type EndpointCount, type RateManager, ResourceUnknownError } from "@hivepace/core";
import { isZero } from "../engine/amounts.ts";
import { UseWindow } from "../engine/use-window.ts";
import type { CapacityWatch } from "../limiter/capacity-watch.ts";
import type { Settings } from "../limiter/config.ts";
import type { Member } from "../limiter/member.ts";
import { DIMENSIONS } from "./amounts-of.ts";
import type { HiveDimension } from "./hive-types.ts";
import { type SharePlan, sharePlans, targetName } from "./limits.ts";
import { Share, type Target } from "./target.ts";

/** The endpoints of a hive, as its manager has them, each with the limits that it shares with others. */
export class Targets {
  readonly #settings: Settings;
  readonly #windowMs: number;
  readonly #manager: RateManager;
  readonly #member: Member;
  readonly #watch: CapacityWatch;
  readonly #clock: Clock;
  readonly #onChange: (target: Target, now: number) => void;
  readonly #byName = new Map<string, Target>();
  /** By endpoint and model; without a model, what is for all others. */
  #byModel = new Map<string, Target>();
  readonly #byPool = new Map<string, Target>();

  constructor(
    settings: Settings,
    windowMs: number,
    manager: RateManager,
    member: Member,
    watch: CapacityWatch,
    onChange: (target: Target, now: number) => void,
  ) {
    this.#settings = settings;
    this.#windowMs = windowMs;
    this.#manager = manager;
    this.#member = member;
    this.#watch = watch;
    this.#clock = settings.clock;
    this.#onChange = onChange;
  }

  [Symbol.iterator](): IterableIterator<Target> {
    return this.#byName.values();
  }

  /** Throws RESOURCE_UNKNOWN. */
  find(endpoint: string, model: string | undefined): Target {
    const target = this.look(endpoint, model);
    if (!target) throw new ResourceUnknownError(endpoint, "endpoint", this.ids());
    return target;
  }

  look(endpoint: string, model: string | undefined): Target | undefined {
    const ofModel = model === undefined ? undefined : this.#byModel.get(key(endpoint, model));
    return ofModel ?? this.#byModel.get(key(endpoint, undefined));
  }

  /** The ids of all endpoints. */
  ids(): string[] {
    return [...new Set([...this.#byName.values()].map(({ id }) => id))];
  }

  /** All of an endpoint, whatever the model. */
  *ofEndpoint(endpoint: string): Generator<Target> {
    for (const target of this.#byName.values()) if (target.id === endpoint) yield target;
  }

  /** Whose limits the engine knows by this name. */
  ofPool(name: string): Target | undefined {
    return this.#byPool.get(name);
  }

  /** Throws INVALID_CONFIG when limits could not be shared as they would be with these endpoints. Changes nothing. */
  check(counts: readonly EndpointCount[]): void {
    for (const count of counts) sharePlans(count, {}, this.#settings, this.#windowMs);
  }

  /** Makes the targets those that the manager has. Returns the ones that are gone. */
  refresh(): Target[] {
    const known = new Set(this.#byName.keys());
    const byModel = new Map<string, Target>();
    for (const count of this.#manager.snapshot({ keys: false }).endpoints) {
      const { id, model, models } = count;
      const name = targetName(count);
      known.delete(name);
      const target: Target = this.#byName.get(name) ?? newTarget(count, this.#windowMs);
      target.count = count;
      this.#byName.set(name, target);
      for (const each of models ?? [model]) byModel.set(key(id, each), target);
      this.shareOut(target);
    }
    const gone: Target[] = [];
    for (const name of known) {
      const target = this.#byName.get(name) as Target;
      gone.push(target);
      this.#byName.delete(name);
      for (const share of target.shares) this.#drop(share);
      target.shares = [];
    }
    this.#byModel = byModel;
    return gone;
  }

  /** Its limits may be others than before: what is shared of it follows. What was used stays used. */
  shareOut(target: Target): void {
    const now = this.#clock.now();
    const plans = sharePlans(target.count, target.learned, this.#settings, this.#windowMs);
    const former = target.shares;
    const before = new Map(former.map((share) => [share.name, share]));
    target.shares = plans.map((plan) => {
      const { name } = plan.config;
      const known = before.get(name);
      // In-flight calls keep the old share, whose dimensions they were charged in.
      const isSame = known?.counts(plan.dimensions) === true;
      // The quota itself stays: the engine passes on to its successor what can be inherited.
      if (known && !isSame) this.#release(known);
      before.delete(name);
      const share = isSame ? known : this.#share(target, plan, now);
      if (isSame) share.pool = this.#member.setPool(plan.config, now);
      this.#byPool.set(name, target);
      this.#watch.add(share, now);
      return share;
    });
    this.#carryOver(target, former, now);
    this.#countFormer(target, former, now);
    for (const share of before.values()) this.#drop(share);
  }

  close(): void {
    for (const target of this.#byName.values()) for (const { tried } of target.shares) tried.forget();
  }

  /**
   * Usage of dimensions whose window is another one now: a new share starts with what the former shares of the target have
   * counted of its dimensions. It counts from now on: late, and never early.
   */
  #carryOver({ shares }: Target, former: readonly Share[], now: number): void {
    for (const share of shares) {
      if (former.length === 0 || former.some(({ name }) => name === share.name)) continue;
      const amounts = share.dimensions.map((dimension) =>
        Math.max(0, ...former.map((old) => this.#ownUsage(old, dimension, now))),
      );
      share.settle(amounts, now);
    }
  }

  /** What this agent has used of a dimension in the last window of a share; 0 when the share does not count it. */
  #ownUsage({ name, dimensions }: Share, dimension: HiveDimension, now: number): number {
    const own = this.#member.agent.pools.get(name)?.own;
    own?.expire(now);
    return own?.sum[dimensions.indexOf(dimension)] ?? 0;
  }

  /**
   * Usage from before there was any limit counts in every share, from now on: late, and never early. What a share has
   * counted by itself, because its quota is still remembered, is not counted twice.
   */
  #countFormer(target: Target, former: readonly Share[], now: number): void {
    const { unshared, shares } = target;
    // No limit is left, such as one of 0: the usage is kept for the next one.
    if (shares.length === 0 && former.length > 0)
      unshared.add(
        now,
        DIMENSIONS.map((dimension) => Math.max(0, ...former.map((old) => this.#ownUsage(old, dimension, now)))),
      );
    target.counting = shares.find(({ pool }) => pool.config.windowMs === this.#windowMs);
    unshared.expire(now);
    if (shares.length === 0 || isZero(unshared.sum)) return;
    for (const share of shares) {
      const missing = share.dimensions.map(
        (name) => (unshared.sum[DIMENSIONS.indexOf(name)] ?? 0) - this.#ownUsage(share, name, now),
      );
      share.settle(
        missing.map((amount) => Math.max(0, amount)),
        now,
      );
    }
    target.unshared = new UseWindow(DIMENSIONS.length, this.#windowMs);
  }

  #share(target: Target, { config, dimensions }: SharePlan, now: number): Share {
    const pool = this.#member.setPool(config, now);
    return new Share(this.#member, target, pool, dimensions, this.#clock, (at) => this.#onChange(target, at));
  }

  #drop(share: Share): void {
    this.#release(share);
    this.#byPool.delete(share.name);
    this.#member.removePool(share.name);
  }

  /** Ends what a share wants and watches, but not its quota. */
  #release(share: Share): void {
    share.tried.forget();
    share.want(undefined, undefined, this.#clock.now());
    this.#watch.remove(share);
  }
}

function newTarget(count: EndpointCount, windowMs: number): Target {
  const { id, model, models } = count;
  return {
    id,
    model,
    models,
    count,
    learned: {},
    shares: [],
    unshared: new UseWindow(DIMENSIONS.length, windowMs),
    counting: undefined,
    typical: { requests: 1, tokens: 0, inputTokens: 0, outputTokens: 0 },
    inFlight: 0,
    line: undefined,
    cancelTimer: undefined,
  };
}

function key(endpoint: string, model: string | undefined): string {
  return `${endpoint}\0${model ?? ""}`;
}
