import type { Clock, EndpointCount, RateManager } from "@hivepace/core";
import { at, datedLike, isZero, ownUsageOf, UsageWindow } from "../engine/index.ts";
import type { CapacityWatch } from "../limiter/capacity-watch.ts";
import type { Settings } from "../limiter/config.ts";
import type { Member } from "../limiter/member.ts";
import { DIMENSIONS } from "./amounts-of.ts";
import type { HiveDimension } from "./hive-types.ts";
import { CONFIGURED, type SharePlan, sharePlans, targetName } from "./limits.ts";
import { claimAgain, newScope } from "./scope.ts";
import { countUnderWay, type HiveLimits, slotPlans } from "./slots.ts";
import { type Limited, type ModelScope, Share, SLOTS_OF_SWARM, type Target } from "./target.ts";
import { unknownEndpoint } from "./unknown-endpoint.ts";

/**
 * Maximum number of models per endpoint that are counted separately. Requests name models, so their number is
 * unbounded.
 */
const MOST_MODELS = 1_000;
/** Number of windows after which a model without learned limits, calls and waiters is forgotten. */
const IDLE_WINDOWS = 2;
/** Number of idle models examined per new model, so that models are dropped as fast as they are added. */
const SWEPT_MODELS = 4;

/** The targets of a hive, one for each endpoint, model or pool of its manager, with their shared quotas. */
export class Targets {
  readonly #settings: Settings;
  readonly #windowMs: number;
  readonly #leaseMs: number;
  readonly #manager: RateManager;
  readonly #member: Member;
  readonly #watch: CapacityWatch;
  readonly #clock: Clock;
  readonly #onChange: (changed: Target | ModelScope) => void;
  readonly #byName = new Map<string, Target>();
  /** Targets without a model, by endpoint. They cover all models without an entry in `#byModel`. */
  #whole: ReadonlyMap<string, Target> = new Map();
  /** Targets of models, by endpoint and model. */
  #byModel = new Map<string, Target>();
  #byEndpoint: ReadonlyMap<string, readonly Target[]> = new Map();
  readonly #byQuota = new Map<string, Target | ModelScope>();

  constructor(
    settings: Settings,
    windowMs: number,
    leaseMs: number,
    manager: RateManager,
    member: Member,
    watch: CapacityWatch,
    onChange: (changed: Target | ModelScope) => void,
  ) {
    this.#settings = settings;
    this.#windowMs = windowMs;
    this.#leaseMs = leaseMs;
    this.#manager = manager;
    this.#member = member;
    this.#watch = watch;
    this.#clock = settings.clock;
    this.#onChange = onChange;
  }

  [Symbol.iterator](): IterableIterator<Target> {
    return this.#byName.values();
  }

  /** Returns the target of an endpoint and model. Throws RESOURCE_UNKNOWN. */
  find(endpoint: string, model: string | undefined): Target {
    const target = this.look(endpoint, model);
    if (!target) throw unknownEndpoint(endpoint, model, this);
    return target;
  }

  look(endpoint: string, model: string | undefined): Target | undefined {
    const ofModel = model === undefined ? undefined : this.#byModel.get(key(endpoint, model));
    return ofModel ?? this.#whole.get(endpoint);
  }

  /** The ids of all endpoints. */
  ids(): string[] {
    return [...this.#byEndpoint.keys()];
  }

  /** The models for which an endpoint has limits of their own. */
  modelsOf(endpoint: string): string[] {
    return [...this.ofEndpoint(endpoint)].flatMap(
      ({ model, models }) => models ?? (model === undefined ? [] : [model]),
    );
  }

  /** All targets of an endpoint. */
  ofEndpoint(endpoint: string): readonly Target[] {
    return this.#byEndpoint.get(endpoint) ?? [];
  }

  has(endpoint: string): boolean {
    return this.#byEndpoint.has(endpoint);
  }

  /** The owner of the quota with this name. */
  ofQuota(name: string): Target | ModelScope | undefined {
    return this.#byQuota.get(name);
  }

  /**
   * Returns the scope of a model for a request at `now`. Undefined where the model's limits are configured or cannot be
   * learned.
   */
  useModel(target: Target, model: string | undefined, now: number): ModelScope | undefined {
    const { byModel } = target;
    if (!byModel || model === undefined) return undefined;
    const scope = byModel.get(model) ?? this.#newModel(target, byModel, model, now);
    if (scope) scope.usedAt = now;
    return scope;
  }

  /**
   * The holder of a limit that an answer has shown to be lower than the configured one: a model of an endpoint that is
   * configured for all models, otherwise the target.
   */
  lowerScope(target: Target, model: string | undefined, now: number): Target | ModelScope {
    if (model === undefined || !isWhole(target)) return target;
    target.byModel ??= new Map();
    return this.useModel(target, model, now) ?? target;
  }

  #newModel(target: Target, byModel: Map<string, ModelScope>, model: string, now: number): ModelScope | undefined {
    let looked = 0;
    for (const [name, known] of byModel) {
      if (++looked > SWEPT_MODELS) break;
      // Moved to the end, so that the next sweep starts with other models.
      byModel.delete(name);
      const isIdle = now - known.usedAt >= IDLE_WINDOWS * this.#windowMs && known.inFlight + known.bound.size === 0;
      if (!isIdle || known.shares.length > 0) byModel.set(name, known);
    }
    if (byModel.size >= MOST_MODELS) return undefined;
    const count = { ...target.count, ...UNCONFIGURED, model };
    const scope: ModelScope = { ...newScope(now), ...newLimited(count, this.#windowMs), model, target };
    byModel.set(model, scope);
    return scope;
  }

  /** Checks that the limits of these endpoints can be shared. Changes nothing. Throws INVALID_CONFIG. */
  check(counts: readonly EndpointCount[], option = "endpoints"): void {
    for (const count of counts) sharePlans(count, {}, this.#settings, this.#windowMs, [], option);
  }

  /** Adopts the endpoints of the manager, and further limits by name of the target. Returns the removed targets. */
  refresh(further: ReadonlyMap<string, HiveLimits>): Target[] {
    const known = new Set(this.#byName.keys());
    const byModel = new Map<string, Target>();
    const whole = new Map<string, Target>();
    for (const count of this.#manager.snapshot({ keys: false }).endpoints) {
      const { id, model, models } = count;
      const name = targetName(count);
      known.delete(name);
      const target: Target = this.#byName.get(name) ?? newTarget(count, this.#windowMs);
      target.count = count;
      target.slots = further.get(name)?.slots;
      target.windows = further.get(name)?.windows ?? [];
      this.#byName.set(name, target);
      for (const each of models ?? [model])
        if (each === undefined) whole.set(id, target);
        else byModel.set(key(id, each), target);
      this.#adoptModel(target);
      this.#adoptPool(target);
      this.shareOut(target);
      this.#refreshModels(target);
    }
    const gone: Target[] = [];
    for (const name of known) {
      const target = this.#byName.get(name) as Target;
      gone.push(target);
      this.#byName.delete(name);
      for (const { shares } of [target, ...(target.byModel?.values() ?? [])])
        for (const share of shares) this.#drop(share);
      target.shares = [];
      target.byModel = undefined;
    }
    this.#byModel = byModel;
    this.#whole = whole;
    const byEndpoint = new Map<string, Target[]>();
    for (const target of this.#byName.values())
      byEndpoint.set(target.id, [...(byEndpoint.get(target.id) ?? []), target]);
    this.#byEndpoint = byEndpoint;
    return gone;
  }

  /** Moves learned limits and usage to the target of a model that gets limits of its own. */
  #adoptModel(target: Target): void {
    const { id, models } = target;
    // A pool has the name of its first model.
    const model = models === undefined ? target.model : undefined;
    const endpoint = model === undefined ? undefined : this.#whole.get(id);
    const scope = model === undefined ? undefined : endpoint?.byModel?.get(model);
    if (!scope || model === undefined) return;
    endpoint?.byModel?.delete(model);
    for (const dimension of DIMENSIONS) {
      const seen = scope.learned[dimension];
      if (seen && target.count[CONFIGURED[dimension]] === Infinity) target.learned[dimension] = seen;
    }
    target.shares = scope.shares;
    target.unshared = scope.unshared;
  }

  /**
   * Moves learned limits and usage of single models to the target of a pool that gets limits of its own. The pool counts the
   * models together: of their learned limits the tightest holds, and their usage is summed. The usage counts from now on, so that
   * it leaves the window late and never early.
   */
  #adoptPool({ id, models = [], learned, unshared, count }: Target): void {
    const byModel = this.#whole.get(id)?.byModel;
    const now = this.#clock.now();
    for (const model of models) {
      const scope = byModel?.get(model);
      if (!scope) continue;
      byModel?.delete(model);
      for (const dimension of DIMENSIONS) {
        const [seen, known] = [scope.learned[dimension], learned[dimension]];
        if (count[CONFIGURED[dimension]] < Infinity) continue;
        if (seen && (!known || seen.limit / seen.windowMs < known.limit / known.windowMs)) learned[dimension] = seen;
      }
      scope.unshared.expire(now);
      const used = DIMENSIONS.map((dimension, i) =>
        Math.max(scope.unshared.sum[i] ?? 0, ...scope.shares.map((share) => this.#ownUsage(share, dimension, now))),
      );
      unshared.add(now, used);
      for (const share of scope.shares) this.#drop(share);
      scope.shares = [];
    }
  }

  /** Limits that are configured for the whole endpoint are learned for its models only where they are lower. */
  #refreshModels(target: Target): void {
    const { count } = target;
    const canLearn = DIMENSIONS.some((dimension) => count[CONFIGURED[dimension]] === Infinity);
    if (isWhole(target) && canLearn) target.byModel ??= new Map();
    let hasLower = false;
    for (const scope of target.byModel?.values() ?? []) {
      for (const dimension of DIMENSIONS) if (!isBelow(scope, dimension, count)) delete scope.learned[dimension];
      this.shareOut(scope);
      if (scope.shares.length > 0) hasLower = true;
    }
    if (!canLearn && !hasLower) target.byModel = undefined;
  }

  /** Updates the quotas to changed limits. Usage stays counted. */
  shareOut(target: Target | ModelScope): void {
    const now = this.#clock.now();
    const rates = sharePlans(target.count, target.learned, this.#settings, this.#windowMs, target.windows);
    // Slots come last: refusals cut the level of the first quota, and a call claims a slot once its rates have
    // capacity.
    const plans = [...rates, ...slotPlans(targetName(target.count), target.slots, this.#settings, this.#leaseMs)];
    const former = target.shares;
    const before = new Map(former.map((share) => [share.name, share]));
    target.shares = plans.map((plan) => {
      const { name } = plan.config;
      const known = before.get(name);
      // Calls in flight keep the old share, because they were charged in its dimensions.
      const isSame = known?.counts(plan.dimensions) === true;
      // The quota itself stays: its successor in the engine inherits from it.
      if (known && !isSame) this.#release(known);
      before.delete(name);
      const share = isSame ? known : this.#share(target, plan, now);
      if (isSame) share.quota = this.#member.setQuota(plan.config, now);
      this.#byQuota.set(name, target);
      this.#watch.add(share, now);
      return share;
    });
    this.#carryOver(target, former, now);
    if ("inFlight" in target) countUnderWay(target, now);
    this.#countFormer(target, former, now);
    for (const share of before.values()) this.#drop(share);
    if ("bound" in target) claimAgain(target, now);
  }

  close(): void {
    for (const target of this.#byName.values())
      for (const { shares } of [target, ...(target.byModel?.values() ?? [])])
        for (const { tried } of shares) tried.forget();
  }

  /**
   * Carries usage over to shares with another window: they start with the usage of their dimensions in the former shares.
   * The usage counts from now on, so that it leaves the window late and never early.
   */
  #carryOver({ shares: all }: Limited, earlier: readonly Share[], now: number): void {
    const [shares, former] = [all.filter(isRate), earlier.filter(isRate)];
    for (const share of shares) {
      if (former.length === 0 || former.some(({ name }) => name === share.name)) continue;
      const amounts = share.dimensions.map((dimension) => {
        const used = Math.max(0, ...former.map((old) => this.#ownUsage(old, dimension, now)));
        // A quota that was removed recently still has the usage of its window.
        return Math.max(0, used - this.#ownUsage(share, dimension, now));
      });
      share.settle(amounts, now, now);
    }
  }

  /** This agent's usage of a dimension in the last window of a share; 0 when the share does not count it. */
  #ownUsage({ name, dimensions }: Share, dimension: HiveDimension, now: number): number {
    const quota = this.#member.agent.quotas.get(name);
    return (quota && ownUsageOf(quota, now)[dimensions.indexOf(dimension)]) ?? 0;
  }

  /**
   * Adds usage from before there was any limit to every share, with its age. Usage that a remembered quota has already counted
   * is not counted twice.
   */
  #countFormer(target: Limited, before: readonly Share[], now: number): void {
    const { unshared } = target;
    const [shares, former] = [target.shares.filter(isRate), before.filter(isRate)];
    // Without a limit to share, the usage is kept for the next one.
    if (shares.length === 0 && former.length > 0)
      unshared.add(
        now,
        DIMENSIONS.map((dimension) => Math.max(0, ...former.map((old) => this.#ownUsage(old, dimension, now)))),
      );
    target.counting = shares.find(({ quota }) => quota.config.windowMs === this.#windowMs);
    unshared.expire(now);
    if (shares.length === 0 || isZero(unshared.sum)) return;
    for (const share of shares) {
      const indices = share.dimensions.map((dimension) => DIMENSIONS.indexOf(dimension));
      const missing = share.dimensions.map((dimension, i) =>
        Math.max(0, at(unshared.sum, at(indices, i)) - this.#ownUsage(share, dimension, now)),
      );
      if (!isZero(missing)) share.countEarlier(datedLike(unshared, indices, missing, now), now);
    }
    target.unshared = new UsageWindow(DIMENSIONS.length, this.#windowMs);
  }

  #share(target: Target | ModelScope, { config, dimensions }: SharePlan, now: number): Share {
    const quota = this.#member.setQuota(config, now);
    const names = config.leaseMs === undefined ? undefined : SLOTS_OF_SWARM;
    return new Share(this.#member, target, quota, dimensions, this.#clock, () => this.#onChange(target), names);
  }

  #drop(share: Share): void {
    this.#release(share);
    this.#byQuota.delete(share.name);
    this.#member.removeQuota(share.name);
  }

  /** Withdraws the claims of a share and stops watching it. Its quota stays. */
  #release(share: Share): void {
    share.tried.forget();
    share.want(undefined, undefined, this.#clock.now());
    this.#watch.remove(share);
  }
}

/** The limits of a model without configured limits. */
const UNCONFIGURED = {
  rpmLimit: Infinity,
  tpmLimit: Infinity,
  inputTpmLimit: Infinity,
  outputTpmLimit: Infinity,
  maxInFlightPerProcess: Infinity,
} as const;

function newTarget(count: EndpointCount, windowMs: number): Target {
  return {
    ...newLimited(count, windowMs),
    inFlight: 0,
    byModel: undefined,
    line: undefined,
    cancelTimer: undefined,
  };
}

function newLimited(count: EndpointCount, windowMs: number): Limited {
  const { id, model, models } = count;
  return {
    id,
    model,
    models,
    count,
    learned: {},
    shares: [],
    unshared: new UsageWindow(DIMENSIONS.length, windowMs),
    counting: undefined,
    slots: undefined,
    windows: [],
    typical: { requests: 1, tokens: 0, inputTokens: 0, outputTokens: 0 },
  };
}

function isWhole({ model, models }: Target): boolean {
  return model === undefined && models === undefined;
}

/** True when the learned limit of a dimension restricts more than the configured one. */
function isBelow({ learned }: Limited, dimension: HiveDimension, count: EndpointCount): boolean {
  const known = learned[dimension];
  return known !== undefined && known.limit < count[CONFIGURED[dimension]];
}

function isRate({ isSlots }: Share): boolean {
  return !isSlots;
}

function key(endpoint: string, model: string): string {
  return `${endpoint}\0${model}`;
}
