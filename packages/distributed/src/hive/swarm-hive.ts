import {
  type CapacityUpdate,
  type Clock,
  ClosedError,
  type DeniedReason,
  type EndedEvent,
  type GateRequest,
  type GrantedEvent,
  InvalidConfigError,
  type KeyLimits,
  type Lease,
  type LimitObservation,
  type OfResource,
  type RateDecision,
  RateManager,
  type RateManagerOptions,
  type Refusal,
  ResourceUnknownError,
  type SyncStore,
  type UsedTokens,
} from "@hivepace/core";
import {
  announced,
  checkAcquireOptions,
  checkRefusal,
  denied,
  ended,
  granted,
  Listeners,
  show,
  warn,
} from "@hivepace/core/internal";
import { startGlobalView } from "../global-view/global-view.ts";
import type { GlobalView } from "../global-view/view-types.ts";
import { CapacityWatch } from "../limiter/capacity-watch.ts";
import { Member } from "../limiter/member.ts";
import { memberStatus } from "../limiter/status.ts";
import { createRouter } from "../router/router.ts";
import type { RouteRequest, Router, RoutingDecision } from "../router/router-types.ts";
import { UnknownEndpoints } from "../router/unknown-endpoints.ts";
import { admit, admitAnyway, type Charge, giveBack, settle, type Verdict } from "./admission.ts";
import { meanOf, type Use, usedOf } from "./amounts-of.ts";
import { type Asked, askedOf } from "./asked.ts";
import type { HiveSettings } from "./config.ts";
import { denialOf } from "./denial.ts";
import { explain, SMALL } from "./explain.ts";
import type {
  Hive,
  HiveChanges,
  HiveDecision,
  HiveExplanation,
  HiveOptions,
  HiveReducedDetails,
  HiveRequest,
  HiveStatus,
} from "./hive-types.ts";
import { Keys } from "./keys.ts";
import { learnFrom } from "./learning.ts";
import { LeaseBook } from "./lease-book.ts";
import { Observations } from "./observations.ts";
import { othersOf } from "./others.ts";
import { type Denied, groupOf, Queue } from "./queue.ts";
import type { Scope } from "./scope.ts";
import { namesake, type Share, type Target } from "./target.ts";
import { Targets } from "./targets.ts";

/** The implementation of `Hive`: delegates requests, reports and changes to its parts. */
export class SwarmHive implements Hive {
  readonly #settings: HiveSettings;
  readonly #clock: Clock;
  readonly #managerOptions: RateManagerOptions;
  readonly #manager: RateManager;
  readonly #member: Member;
  readonly #watch: CapacityWatch;
  readonly #targets: Targets;
  readonly #queue: Queue;
  readonly #leases: LeaseBook;
  readonly #router: Router;
  readonly #view: GlobalView | undefined;
  readonly #keys: Keys;
  readonly #observations: Observations | undefined;
  readonly #unknown = new UnknownEndpoints();
  readonly #listeners = new Listeners<CapacityUpdate>();
  /** Closes the bus and the store that the hive owns. */
  readonly #dispose: () => Promise<void>;
  #closing: Promise<void> | undefined;
  #isChanging = false;

  constructor(
    settings: HiveSettings,
    options: HiveOptions,
    store: SyncStore | undefined,
    dispose: () => Promise<void>,
  ) {
    this.#dispose = dispose;
    const { swarm, windowMs, namespace } = settings;
    const { clock, agentId } = swarm;
    const { mockEndpointTpmThreshold, limitsForKey, strategy, weights } = options;
    this.#settings = settings;
    this.#clock = clock;
    this.#managerOptions = { windowMs, mockEndpointTpmThreshold, limitsForKey, clock, diagnostics: false };
    this.#manager = new RateManager(this.#managerOptions);
    // Throws for invalid endpoints and keys before anything has started.
    this.#manager.loadConfig({ endpoints: options.endpoints, keys: options.keys ?? {} });
    this.#member = new Member(swarm, {
      serve: (pool) => this.#servePool(pool),
      look: (now) => this.#watch.look(now),
      source: "hive",
    });
    const { agent, origin } = this.#member;
    this.#watch = new CapacityWatch(agent, origin, (change) => this.#tell(change));
    this.#targets = new Targets(settings.swarm, windowMs, this.#manager, this.#member, this.#watch, (changed) =>
      this.#serveChanged(changed),
    );
    this.#keys = new Keys(settings.swarm, windowMs, this.#member, limitsForKey);
    this.#queue = new Queue({
      clock,
      maxQueue: swarm.maxQueue,
      decide: (asked, target, now) => this.#admit(asked, target, now, true),
      grant: (asked, charge, decision) => this.#lease(asked, charge, decision),
      prefer: ({ model, key, session, use }, targets) => {
        const candidates = targets.map(({ id }) => id);
        const { endpoint } = this.#router.route({ candidates, model, key, session, ...use });
        return targets.find(({ id }) => id === endpoint);
      },
      denial: (asked, target, now) => this.#denial(asked, target, now),
      targetsOf: ({ candidates, model }) => this.#targetsOf(candidates, model),
      unknown: ({ candidates }) => new ResourceUnknownError(candidates, "endpoint", this.#targets.ids()),
      origin,
      onWaiting: (isWaiting) => {
        this.#member.isAwaited = isWaiting;
      },
    });
    this.#leases = new LeaseBook(clock, settings.leaseMs);
    this.#router = createRouter({
      manager: this.#manager,
      view: { others: (endpoint, model) => othersOf(this.#targets.look(endpoint, model), this.#view, endpoint, model) },
      strategy,
      weights,
      clock,
    });
    this.#observations = settings.mode === "observe" ? new Observations() : undefined;
    this.#targets.refresh();
    // Last, because the view starts to sync at once and nothing after it throws.
    this.#view = store && startGlobalView({ manager: this.#manager, store, agentId, namespace, keys: true, clock });
    this.#setKeys(options.keys);
  }

  get agentId(): string {
    return this.#settings.swarm.agentId;
  }

  get mode(): "enforce" | "observe" {
    return this.#settings.mode;
  }

  /** Resolves when the subscriptions on the bus are active. */
  open(): Promise<void> {
    return this.#member.open();
  }

  async acquire(request: HiveRequest): Promise<Lease> {
    checkAcquireOptions(request);
    const { signal, timeoutMs = Infinity, priority = 0 } = request;
    if (signal?.aborted) throw signal.reason;
    const asked = this.#ask(request);
    const tried = this.#try(asked);
    return tried.lease ?? this.#queue.wait(tried.denied, asked, { signal, timeoutMs, priority });
  }

  tryAcquire(request: HiveRequest): HiveDecision {
    const asked = this.#ask(request);
    const tried = this.#try(asked);
    if (tried.lease) return decisionOf(tried.decision, tried.lease.endpoint, tried.lease);
    const [first] = tried.denied as [Denied];
    const { target, decision } = first;
    const { id: endpoint } = target;
    const now = this.#clock.now();
    for (const share of this.#deniedBy(first)) share.tried.denied(share.amounts(asked.use), now);
    if (denied.hasSubscribers) {
      const { limitedBy } = decision;
      denied.publish({ ...this.#about(target), cost: asked.use.tokens, reason: reasonOf(decision, target), limitedBy });
    }
    return decisionOf(decision, endpoint, undefined);
  }

  route(request: RouteRequest): RoutingDecision {
    const { candidates, model } = request;
    if (!Array.isArray(candidates) || candidates.length === 0) return this.#router.route(request);
    return this.#router.route({ ...request, candidates: this.#known(candidates, model).map(({ id }) => id) });
  }

  announceReduced(endpoint: string, reason: string, details: HiveReducedDetails = {}): void {
    checkRefusal(reason, details);
    const { model, sentAgoMs = 0, retryAfterMs, kind } = details;
    const targets = model === undefined ? [...this.#targets.ofEndpoint(endpoint)] : [];
    if (targets.length === 0) targets.push(this.#targets.find(endpoint, model));
    const refusal = { reason, retryAfterMs, kind };
    for (const target of targets)
      for (const each of model === undefined ? [undefined, ...learnedModels(target)] : [model])
        this.#refused(target, each, refusal, sentAgoMs);
  }

  observe(observation: LimitObservation): void {
    if (this.#closing) return;
    const target = this.#targets.look(observation.endpoint, observation.model);
    if (!target) return;
    const { windowMs } = this.#settings;
    if (learnFrom(target, observation, this.#member, this.#targets, windowMs, this.#clock.now()) && target.line)
      this.#queue.regroup(target);
  }

  explain(endpoint: string, model?: string): HiveExplanation {
    return this.#explain(this.#targets.find(endpoint, model), model);
  }

  status(): HiveStatus {
    return {
      ...memberStatus(this.#member, this.#clock.now()),
      namespace: this.#settings.namespace,
      endpoints: [...this.#targets].flatMap((target) =>
        [namesake(target), ...learnedModels(target)].map((model) => this.#explain(target, model)),
      ),
      activeKeys: this.#keys.size,
      leases: this.#leases.size,
      waiting: this.#queue.size,
      sync: this.#view?.status(),
      observed: this.#observations?.report(),
    };
  }

  onCapacityChange(listener: (update: CapacityUpdate) => void): () => void {
    return this.#listeners.add(listener);
  }

  reconfigure(changes: HiveChanges): void {
    if (this.#closing) throw new ClosedError();
    if (typeof changes !== "object" || changes === null) throw new InvalidConfigError("changes", "an object", changes);
    const { endpoints, keys } = changes;
    const config = { ...(endpoints ? { endpoints } : {}), ...(keys ? { keys } : {}) };
    // A trial manager finds every mistake, so that nothing below throws.
    const trial = new RateManager(this.#managerOptions);
    trial.loadConfig(config);
    this.#targets.check(trial.snapshot({ keys: false }).endpoints);
    // Waiters are not served while only some parts know the change.
    this.#isChanging = true;
    try {
      this.#manager.loadConfig(config);
      if (keys) this.#setKeys(keys);
      if (endpoints) this.#targets.refresh();
      this.#member.wake();
    } finally {
      this.#isChanging = false;
    }
    this.#queue.reconfigured(this.#targets);
  }

  close(options: { readonly drainMs?: number | undefined } = {}): Promise<void> {
    const { drainMs = 0 } = options;
    if (!(drainMs >= 0)) return Promise.reject(new InvalidConfigError("drainMs", "0 or more", drainMs));
    this.#closing ??= this.#close(drainMs);
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(drainMs: number): Promise<void> {
    // Set before waiters are rejected, so that requests from their handlers are rejected as well.
    this.#closing = Promise.resolve();
    this.#queue.close();
    try {
      await this.#leases.empty(drainMs);
      this.#leases.close();
      this.#targets.close();
      this.#keys.close();
      // The last counts and the goodbye are sent before the store and the bus are closed.
      await this.#view?.close();
      await this.#member.close();
    } finally {
      this.#listeners.clear();
      await this.#dispose();
    }
  }

  #ask(request: GateRequest): Asked {
    if (this.#closing) throw new ClosedError();
    const asked = askedOf(request);
    return asked.hasTokens ? asked : this.#estimated(asked);
  }

  /**
   * A request without a number of tokens. Throws INVALID_CONFIG where tokens are limited by configuration: counted as 0 the
   * request would evade the limit. Learned limits may become known at any time, so the mean of earlier calls counts there.
   */
  #estimated(asked: Asked): Asked {
    const { candidates, model, key } = asked;
    const targets = this.#targetsOf(candidates, model);
    const limited = targets.find(({ count }) => TOKEN_LIMITS.some((limit) => count[limit] < Infinity));
    if (limited) throw new InvalidConfigError("tokens", `given, because ${show(limited.id)} limits tokens`, undefined);
    const limits = key === undefined ? undefined : this.#keys.limitsOf(key);
    if (limits?.rateLimitTpm !== undefined)
      throw new InvalidConfigError("tokens", `given, because the key ${show(key)} limits tokens`, undefined);
    const learned = targets
      .flatMap((target) => [(model === undefined ? undefined : target.byModel?.get(model)) ?? [], target].flat())
      .find(({ learned: of }) => of.tokens || of.inputTokens || of.outputTokens);
    return learned ? { ...asked, use: learned.typical } : asked;
  }

  /** Tries the candidates in the router's order. If all deny the request, the one with capacity first comes first. */
  #try(asked: Asked): Tried {
    const { model, key, session, use } = asked;
    const targets = this.#known(asked.candidates, model);
    if (targets.length === 1) return this.#tryOne(asked, targets[0] as Target);
    const denied: Denied[] = [];
    let candidates = targets.map(({ id }) => id);
    while (candidates.length > 0) {
      const routed = this.#router.route({ candidates, model, key, session, ...use });
      const result = this.#tryOne(asked, this.#targets.find(routed.endpoint, model));
      if (result.lease) return result;
      denied.push(...result.denied);
      candidates = candidates.filter((endpoint) => endpoint !== routed.endpoint);
    }
    return { lease: undefined, denied: denied.sort((a, b) => rank(a.decision) - rank(b.decision)) };
  }

  #tryOne(asked: Asked, target: Target): Tried {
    const now = this.#clock.now();
    const verdict = this.#admit(asked, target, now);
    const { decision, charge } = verdict;
    if (charge) return { lease: this.#lease(asked, charge, decision), decision };
    return { lease: undefined, denied: [{ target, decision, blockedBy: verdict.blockedBy }] };
  }

  /** The targets of the known candidates. Warns once about each unknown one; throws RESOURCE_UNKNOWN when none is known. */
  #known(candidates: readonly string[], model: string | undefined): readonly Target[] {
    const targets = this.#targetsOf(candidates, model);
    if (targets.length === 0) throw new ResourceUnknownError(candidates, "endpoint", this.#targets.ids());
    if (targets.length < candidates.length)
      for (const id of candidates) if (!this.#targets.look(id, model)) this.#unknown.warn(id, this.#targets.ids());
    return targets;
  }

  #targetsOf(candidates: readonly string[], model: string | undefined): readonly Target[] {
    return candidates.flatMap((endpoint) => this.#targets.look(endpoint, model) ?? []);
  }

  /** Decides on a request, and counts it when it is granted. A request does not overtake waiters. */
  #admit(asked: Asked, target: Target, now: number, isNext = false): Verdict {
    const { model, key, use } = asked;
    const verdict: Verdict =
      !isNext && this.#isBehind(asked, target, now)
        ? { charge: undefined, decision: this.#denial(asked, target, now) as RateDecision, blockedBy: [], blockedMs: 0 }
        : admit(this.#manager, target, this.#scopes(asked, target, now), modelOf(target, model), key, use, now);
    if (this.#observations) {
      this.#observations.decided(target.id, verdict.decision);
      if (verdict.charge) return verdict;
      const { decision } = verdict;
      return { charge: admitAnyway(target, this.#scopes(asked, target, now), use, now), decision };
    }
    const { charge } = verdict;
    if (charge) for (const { shares } of [charge, ...charge.scopes]) for (const { tried } of shares) tried.granted();
    return verdict;
  }

  /** The scopes of a request at `now`, the tenant key first. Creates scopes that do not exist yet. */
  #scopes({ key, model }: Pick<Asked, "key" | "model">, target: Target, now: number): readonly Scope[] {
    const ofKey = this.#keys.use(key, now);
    const ofModel = this.#targets.useModel(target, model, now);
    if (!ofKey) return ofModel ? [ofModel] : NO_SCOPES;
    return ofModel ? [ofKey, ofModel] : [ofKey];
  }

  /** The existing scopes of a request, the tenant key first. */
  #knownScopes({ key, model }: Pick<Asked, "key" | "model">, target: Target): readonly Scope[] {
    const ofKey = this.#keys.peek(key);
    const ofModel = model === undefined ? undefined : target.byModel?.get(model);
    return [...(ofKey ? [ofKey] : []), ...(ofModel ? [ofModel] : [])];
  }

  /** True when a request would overtake a waiter of its target or of one of its scopes. */
  #isBehind(asked: Pick<Asked, "key" | "model">, target: Target, now: number): boolean {
    if (target.line?.isWaiting(groupOf(asked, target), now)) return true;
    return this.#knownScopes(asked, target).some(({ bound }) => bound.size > 0);
  }

  /** The denial of a request at the end of the target's line. Undefined when the request could be sent at once. */
  #denial(
    { model, key, use }: Pick<Asked, "model" | "key" | "use">,
    target: Target,
    now: number,
  ): RateDecision | undefined {
    const { tokens, inputTokens, outputTokens } = use;
    const of = modelOf(target, model);
    const local = this.#manager.peek({ endpoint: target.id, model: of, key, tokens, inputTokens, outputTokens });
    const scopes = this.#knownScopes({ key, model }, target);
    return this.#isBehind({ key, model }, target, now)
      ? denialOf(target, scopes, use, local, target.line?.wanted(now) ?? NOTHING, now, true)
      : denialOf(target, scopes, use, local, undefined, now);
  }

  #lease({ model }: Asked, charge: Charge, decision: RateDecision): Lease {
    const { target, use, sentAt, scopes } = charge;
    target.inFlight++;
    for (const { scope } of scopes) scope.inFlight++;
    if (granted.hasSubscribers)
      granted.publish({ ...this.#about(target), cost: use.tokens, ...(decision.allowed ? {} : wouldHave(decision)) });
    const end = (how: EndedEvent["how"], tokens: number): void => {
      target.inFlight--;
      for (const { scope } of scopes) scope.inFlight--;
      try {
        if (ended.hasSubscribers)
          ended.publish({ ...this.#about(target), how, heldMs: this.#clock.now() - sentAt, tokens });
      } finally {
        // Waiters may need the slot of the ended call, or its refund.
        this.#serve(target);
      }
    };
    return this.#leases.give(target.id, model, {
      done: (used: UsedTokens | undefined, isExpired: boolean) => {
        const really = used === undefined ? use : usedOf(used, use);
        return () => {
          settle(this.#manager, charge, really, this.#clock.now());
          const ofModel = model === undefined ? undefined : target.byModel?.get(model);
          if (used !== undefined)
            for (const each of ofModel ? [target, ofModel] : [target]) each.typical = meanOf(each.typical, really);
          end(isExpired ? "expired" : "done", really.tokens);
        };
      },
      cancel: () => () => {
        giveBack(this.#manager, charge, this.#clock.now());
        end("cancelled", 0);
      },
      refused: (refusal: Refusal) => {
        checkRefusal(refusal?.reason, refusal);
        return () => {
          giveBack(this.#manager, charge, this.#clock.now());
          this.#observations?.refused(target.id, charge.decision === undefined);
          try {
            this.#refused(target, model, refusal, this.#clock.now() - sentAt);
          } finally {
            end("refused", 0);
          }
        };
      },
    });
  }

  /** Cuts the limits that were learned for the model, or else those of the target. */
  #refused(
    target: Target,
    model: string | undefined,
    { reason, retryAfterMs, kind }: Refusal,
    sentAgoMs: number,
  ): void {
    if (announced.hasSubscribers) announced.publish({ ...this.#about(target), reason, sentAgoMs, retryAfterMs, kind });
    const ofModel = model === undefined ? undefined : target.byModel?.get(model)?.shares[0];
    const share = ofModel ?? target.shares[0];
    const isOverload = kind === "overload";
    if (share) this.#member.refused(share.pool, { sentAgoMs, retryAfterMs, isOverload, reason });
    for (const each of target.models ?? [target.model])
      this.#router.refused(target.id, { model: each, ...(retryAfterMs && retryAfterMs > 0 ? { retryAfterMs } : {}) });
  }

  /** The subject of a diagnostic event. */
  #about(target: Target): OfResource {
    return { ...this.#member.origin, resource: target.id, model: namesake(target) };
  }

  /** Serves the waiters of a quota. */
  #servePool(pool: string): void {
    this.#serveChanged(this.#keys.ofPool(pool) ?? this.#targets.ofPool(pool));
  }

  /** Serves the waiters of a target or a scope. */
  #serveChanged(changed: Target | Scope | undefined): void {
    if (!changed || this.#isChanging) return;
    if ("bound" in changed) this.#queue.unblockScope(changed);
    else this.#serve(changed);
  }

  /** The quotas that denied a `tryAcquire` and have no waiters: the denied call counts as demand there. */
  #deniedBy({ decision, target, blockedBy }: Denied): readonly Share[] {
    if (decision.reason !== "rate" || !this.#member.isShared) return [];
    if (blockedBy.length > 0) return blockedBy.flatMap(({ bound, shares }) => (bound.size === 0 ? shares : []));
    return decision.limitedBy?.startsWith("swarm-") && !target.line ? target.shares : [];
  }

  #serve(target: Target | undefined): void {
    if (target?.line && !this.#isChanging) this.#queue.serve(target);
  }

  #setKeys(keys: Readonly<Record<string, KeyLimits>> = {}): void {
    this.#keys.configure(new Map(Object.entries(keys)), this.#clock.now());
    if (this.#view && !this.#member.isShared && Object.keys(keys).length > 0)
      warn(
        "HIVEPACE_KEYS_LOCAL",
        "without a bus or a store that hands out limits, limits of keys hold for each process",
      );
  }

  #explain(target: Target, model: string | undefined): HiveExplanation {
    const observed = this.#observations?.of(target.id);
    const now = this.#clock.now();
    const denial = this.#denial({ model, key: undefined, use: SMALL }, target, now);
    // A denial without a limit means that waiters ahead are about to be served.
    const cause = denial?.limitedBy === undefined ? undefined : denial;
    return {
      ...explain(target, model, this.#member.agent, this.#view, cause, this.#settings.windowMs, now),
      observed,
    };
  }

  #tell(change: Omit<CapacityUpdate, "timestamp">): void {
    if (this.#listeners.size > 0) this.#listeners.emit({ ...change, timestamp: new Date(this.#clock.epochMs()) });
  }
}

const NO_SCOPES: readonly Scope[] = [];

/** The models of a target that have learned limits. */
function learnedModels({ byModel }: Target): string[] {
  return [...(byModel?.values() ?? [])].flatMap(({ model, shares }) => (shares.length > 0 ? [model] : []));
}

/** The usage of no calls. */
const NOTHING: Use = { requests: 0, tokens: 0, inputTokens: 0, outputTokens: 0 };

const TOKEN_LIMITS = ["tpmLimit", "inputTpmLimit", "outputTpmLimit"] as const;

/** The outcome of trying a request at its candidates. */
type Tried =
  | { readonly lease: Lease; readonly decision: RateDecision }
  | { readonly lease: undefined; readonly denied: readonly Denied[] };

/** Orders denials: by wait, then those that end with a call in flight, then those that never end. */
function rank({ reason, retryAfterMs }: RateDecision): number {
  return reason === "too-large" ? Infinity : (retryAfterMs ?? Number.MAX_VALUE);
}

function reasonOf({ reason }: RateDecision, { line }: Target): DeniedReason {
  if (reason === "too-large" || reason === "in-flight") return reason;
  return line ? "others-wait" : "no-tokens";
}

/** The part of a granted event that tells what an enforcing hive would have done. */
function wouldHave({ reason, limitedBy }: RateDecision): Pick<GrantedEvent, "wouldHave" | "limitedBy"> {
  return { wouldHave: reason === "too-large" ? "been-denied" : "waited", limitedBy };
}

/** The model by which the manager counts a request. It knows a pool of models by each of them. */
function modelOf({ model, models }: Target, asked: string | undefined): string | undefined {
  return models || model === undefined ? asked : model;
}

/** A copy that cannot be settled. All copies have one shape, because one is made for every request. */
function decisionOf(decision: RateDecision, endpoint: string, lease: Lease | undefined): HiveDecision {
  return {
    allowed: decision.allowed,
    currentTpm: decision.currentTpm,
    limitTpm: decision.limitTpm,
    currentRpm: decision.currentRpm,
    limitRpm: decision.limitRpm,
    utilization: decision.utilization,
    windowStart: decision.windowStart,
    retryAfterMs: decision.retryAfterMs,
    limitedBy: decision.limitedBy,
    reason: decision.reason,
    endpoint,
    lease,
  };
}
