import { type Clock, type EndpointCount, type RateManager, ResourceUnknownError } from "@hivepace/core";
import { isZero } from "../engine/amounts.ts";
import { UseWindow } from "../engine/use-window.ts";
import type { CapacityWatch } from "../limiter/capacity-watch.ts";
import type { Settings } from "../limiter/config.ts";
import type { Member } from "../limiter/member.ts";
import { DIMENSIONS } from "./amounts-of.ts";
import type { HiveDimension } from "./hive-types.ts";
import { CONFIGURED, type SharePlan, sharePlans, targetName } from "./limits.ts";
import { newScope } from "./scope.ts";
import { type Limited, type ModelScope, Share, type Target } from "./target.ts";

/** Models of one endpoint whose usage is counted apart. Requests name models, so that there may be any number. */
const MOST_MODELS = 1_000;
/** A model without learned limits, calls and waiters is forgotten after this many windows. */
const IDLE_WINDOWS = 2;
/** Idle models that one new model looks for, so that models go as fast as they come. */
const SWEPT_MODELS = 4;

/** The targets of a hive, one for each endpoint, model or pool of its manager, with their shared quotas. */
export class Targets {
  readonly #settings: Settings;
  readonly #windowMs: number;
  readonly #manager: RateManager;
  readonly #member: Member;
  readonly #watch: CapacityWatch;
  readonly #clock: Clock;
  readonly #onChange: (changed: Target | ModelScope) => void;
  readonly #byName = new Map<string, Target>();
  /** By endpoint and model. The entry without a model is for all models that have no entry. */
  #byModel = new Map<string, Target>();
  readonly #byPool = new Map<string, Target | ModelScope>();

  constructor(
    settings: Settings,
    windowMs: number,
    manager: RateManager,
    member: Member,
    watch: CapacityWatch,
    onChange: (changed: Target | ModelScope) => void,
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

  /** All targets of an endpoint. */
  *ofEndpoint(endpoint: string): Generator<Target> {
    for (const target of this.#byName.values()) if (target.id === endpoint) yield target;
  }

  /** The owner of the quota with this name. */
  ofPool(name: string): Target | ModelScope | undefined {
    return this.#byPool.get(name);
  }

  /** The scope of a model for a request at `now`. Undefined where its limits are configured, or nothing can be learned. */
  useModel(target: Target, model: string | undefined, now: number): ModelScope | undefined {
    const { byModel } = target;
    if (!byModel || model === undefined) return undefined;
    const scope = byModel.get(model) ?? this.#newModel(target, byModel, model, now);
    if (scope) scope.usedAt = now;
    return scope;
  }

  #newModel(target: Target, byModel: Map<string, ModelScope>, model: string, now: number): ModelScope | undefined {
    let looked = 0;
    for (const [name, known] of byModel) {
      if (++looked > SWEPT_MODELS) break;
      // Moved to the end, so that the next sweep starts with others.
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

  /** Throws INVALID_CONFIG when the limits of these endpoints could not be shared. Changes nothing. */
  check(counts: readonly EndpointCount[]): void {
    for (const count of counts) sharePlans(count, {}, this.#settings, this.#windowMs);
  }

  /** Adopts the endpoints of the manager. Returns the removed targets. */
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
      this.#adoptModel(target);
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
    return gone;
  }

  /** A model that gets limits of its own takes over what was learned for it, with its usage. */
  #adoptModel(target: Target): void {
    const { id, model } = target;
    const endpoint = model === undefined ? undefined : this.#byModel.get(key(id, undefined));
    const scope = model === undefined ? undefined : endpoint?.byModel?.get(model);
    if (!scope || model === undefined) return;
    endpoint?.byModel?.delete(model);
    Object.assign(target.learned, scope.learned);
    target.shares = scope.shares;
    target.unshared = scope.unshared;
  }

  /** Limits that are configured for the whole endpoint are not learned for its models. */
  #refreshModels(target: Target): void {
    const { count } = target;
    const canLearn = DIMENSIONS.some((dimension) => count[CONFIGURED[dimension]] === Infinity);
    const isWhole = target.model === undefined && target.models === undefined;
    if (isWhole && canLearn) target.byModel ??= new Map();
    for (const scope of target.byModel?.values() ?? []) {
      for (const dimension of DIMENSIONS) if (count[CONFIGURED[dimension]] < Infinity) delete scope.learned[dimension];
      this.shareOut(scope);
    }
    if (!canLearn) target.byModel = undefined;
  }

  /** Updates the quotas to changed limits. Usage stays counted. */
  shareOut(target: Target | ModelScope): void {
    const now = this.#clock.now();
    const plans = sharePlans(target.count, target.learned, this.#settings, this.#windowMs);
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
    for (const target of this.#byName.values())
      for (const { shares } of [target, ...(target.byModel?.values() ?? [])])
        for (const { tried } of shares) tried.forget();
  }

  /**
   * Carries usage over to shares with another window: they start with the usage of their dimensions in the former shares.
   * The usage counts from now on, so that it leaves the window late and never early.
   */
  #carryOver({ shares }: Limited, former: readonly Share[], now: number): void {
    for (const share of shares) {
      if (former.length === 0 || former.some(({ name }) => name === share.name)) continue;
      const amounts = share.dimensions.map((dimension) =>
        Math.max(0, ...former.map((old) => this.#ownUsage(old, dimension, now))),
      );
      share.settle(amounts, now);
    }
  }

  /** This agent's usage of a dimension in the last window of a share; 0 when the share does not count it. */
  #ownUsage({ name, dimensions }: Share, dimension: HiveDimension, now: number): number {
    const own = this.#member.agent.pools.get(name)?.own;
    own?.expire(now);
    return own?.sum[dimensions.indexOf(dimension)] ?? 0;
  }

  /**
   * Adds usage from before there was any limit to every share. It counts from now on, so that it leaves the window late and
   * never early. Usage that a remembered quota has already counted is not counted twice.
   */
  #countFormer(target: Limited, former: readonly Share[], now: number): void {
    const { unshared, shares } = target;
    // Without a limit to share, the usage is kept for the next one.
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

  #share(target: Target | ModelScope, { config, dimensions }: SharePlan, now: number): Share {
    const pool = this.#member.setPool(config, now);
    return new Share(this.#member, target, pool, dimensions, this.#clock, () => this.#onChange(target));
  }

  #drop(share: Share): void {
    this.#release(share);
    this.#byPool.delete(share.name);
    this.#member.removePool(share.name);
  }

  /** Withdraws the claims of a share and stops watching it. Its quota stays. */
  #release(share: Share): void {
    share.tried.forget();
    share.want(undefined, undefined, this.#clock.now());
    this.#watch.remove(share);
  }
}

/** The limits of a model that nobody has configured. */
const UNCONFIGURED = {
  rpmLimit: Infinity,
  tpmLimit: Infinity,
  inputTpmLimit: Infinity,
  outputTpmLimit: Infinity,
  maxInFlight: Infinity,
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
    unshared: new UseWindow(DIMENSIONS.length, windowMs),
    counting: undefined,
    typical: { requests: 1, tokens: 0, inputTokens: 0, outputTokens: 0 },
  };
}

function key(endpoint: string, model: string | undefined): string {
  return `${endpoint}\0${model ?? ""}`;
}
