import {
  type CapacityUpdate,
  type Clock,
  ClosedError,
  type DeniedReason,
  type GateRequest,
  InvalidConfigError,
  type KeyLimits,
  type Lease,
  type LimitObservation,
  type OfResource,
  type RateDecision,
  RateManager,
  type RateManagerOptions,
  type Refusal,
  type SyncStore,
} from "@hivepace/core";
import {
  announced,
  checkAcquireOptions,
  checkEndpoint,
  checkKnown,
  checkObject,
  checkRefusal,
  denied,
  granted,
  isAmount,
  Listeners,
  type OptionNames,
  REDUCED_DETAILS,
  readConfig,
  show,
  warn,
} from "@hivepace/core/internal";
import { type AvailabilityReading, agentMode } from "../engine/index.ts";
import { startGlobalView } from "../global-view/global-view.ts";
import type { GlobalView } from "../global-view/view-types.ts";
import { CapacityWatch } from "../limiter/capacity-watch.ts";
import { closeAtExit } from "../limiter/close-at-exit.ts";
import { Member } from "../limiter/member.ts";
import { memberStatus } from "../limiter/status.ts";
import { RoomRouter } from "../router/router.ts";
import type { RouteRequest, RoutingDecision } from "../router/router-types.ts";
import { tiersOf, tiersWithin } from "../router/tiers.ts";
import { UnknownEndpoints } from "../router/unknown-endpoints.ts";
import { admit, admitAnyway, type Charge, type Counts, modelOf, type Verdict } from "./admission.ts";
import type { Use } from "./amounts-of.ts";
import { type Asked, askedOf } from "./asked.ts";
import { closedForMs, HiveAvailability, unavailableDecision, whyUnavailable } from "./availability.ts";
import type { HiveSettings } from "./config.ts";
import { denialOf } from "./denial.ts";
import { explain, SMALL } from "./explain.ts";
import { HeldClock } from "./held-clock.ts";
import type {
  Hive,
  HiveChanges,
  HiveDecision,
  HiveEndpoint,
  HiveExplanation,
  HiveKeyLimits,
  HiveOptions,
  HiveReducedDetails,
  HiveRequest,
  HiveStatus,
  ParkOptions,
  ReadyOptions,
} from "./hive-types.ts";
import { Keys } from "./keys.ts";
import { Latencies } from "./latencies.ts";
import { learnFrom } from "./learning.ts";
import { LeaseBook } from "./lease-book.ts";
import { HiveLeaseEnds, type SentAs } from "./lease-ends.ts";
import { CONFIGURED, targetName } from "./limits.ts";
import { Observations } from "./observations.ts";
import { othersOf } from "./others.ts";
import { type Denied, groupOf, Queue } from "./queue.ts";
import { Readiness } from "./readiness.ts";
import { refusalByStatus, runWith } from "./run.ts";
import type { Scope } from "./scope.ts";
import { type HiveLimits, type SplitEndpoints, slotsOfKey, splitEndpoints, splitKeys } from "./slots.ts";
import { namesake, type Share, type Target } from "./target.ts";
import { Targets } from "./targets.ts";
import { unknownEndpoint } from "./unknown-endpoint.ts";
import { Wasted } from "./wasted.ts";

/** The implementation of `Hive`: delegates requests, reports and changes to its parts. */
export class SwarmHive implements Hive {
  readonly #settings: HiveSettings;
  readonly #clock: Clock;
  readonly #managerOptions: RateManagerOptions;
  readonly #manager: RateManager;
  readonly #counts: Counts;
  readonly #member: Member;
  readonly #watch: CapacityWatch;
  readonly #targets: Targets;
  readonly #queue: Queue;
  readonly #leases: LeaseBook;
  readonly #router: RoomRouter;
  readonly #view: GlobalView | undefined;
  readonly #keys: Keys;
  readonly #observations: Observations | undefined;
  readonly #readiness: Readiness;
  readonly #refusalOf: (error: unknown) => Refusal | undefined;
  #hasWaiters = false;
  #isPaused = false;
  /** The limits of endpoints and models that the manager does not know, by the names of their targets. */
  #further: ReadonlyMap<string, HiveLimits>;
  readonly #availability: HiveAvailability;
  readonly #latencies = new Latencies();
  readonly #wasted: Wasted;
  readonly #unknown = new UnknownEndpoints();
  readonly #listeners = new Listeners<CapacityUpdate>();
  /** Closes the bus and the store that the hive owns. */
  readonly #dispose: () => Promise<void>;
  #closing: Promise<void> | undefined;
  #revokeExit = (): void => {};
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
    const { mockEndpointTpmThreshold, limitsForKey, strategy, weights, refusalOf = refusalByStatus } = options;
    this.#refusalOf = refusalOf;
    const split = splitEndpoints(options.endpoints, mockEndpointTpmThreshold, windowMs);
    this.#further = split.further;
    this.#settings = settings;
    this.#clock = clock;
    const ofKey = limitsForKey && ((key: string) => plainLimits(limitsForKey(key)));
    this.#managerOptions = { windowMs, mockEndpointTpmThreshold, limitsForKey: ofKey, clock, diagnostics: false };
    const held = new HeldClock(clock);
    this.#manager = new RateManager({ ...this.#managerOptions, clock: held });
    this.#counts = { manager: this.#manager, clock: held };
    // Throws for invalid endpoints and keys before anything has started.
    this.#manager.loadConfig({ endpoints: split.endpoints, keys: splitKeys(options.keys ?? {}) });
    this.#member = new Member(swarm, {
      serve: (quota) => this.#serveQuota(quota),
      afterStep: (now) => {
        this.#readiness.check(now);
        return Math.min(this.#watch.look(now), this.#availability.look(now));
      },
      source: "hive",
    });
    const { agent, origin } = this.#member;
    this.#readiness = new Readiness(
      (now) => agentMode(agent, now) !== "joining",
      () => this.#keepAlive(),
    );
    this.#wasted = new Wasted(windowMs);
    this.#observations = settings.mode === "observe" ? new Observations() : undefined;
    this.#availability = new HiveAvailability(this.#member, (endpoint) => this.#availabilityChanged(endpoint));
    const ends = new HiveLeaseEnds({
      clock,
      counts: this.#counts,
      availability: this.#availability,
      latencies: this.#latencies,
      wasted: this.#wasted,
      observations: this.#observations,
      leases: () => this.#leases,
      refused: ({ target, model, sentAt, isProbe, decision }, refusal, sent, now) =>
        this.#refused(target, model, refusal, now - sentAt, { isProbe, sent, wasDenied: decision === undefined }),
      serve: (target) => this.#serve(target),
      about: (target) => this.#about(target),
    });
    this.#leases = new LeaseBook(clock, settings.leaseMs, ends);
    this.#watch = new CapacityWatch(agent, origin, (change) => this.#tell(change));
    const { leaseMs } = settings;
    const { swarm: swarmSettings } = settings;
    this.#targets = new Targets(swarmSettings, windowMs, leaseMs, this.#manager, this.#member, this.#watch, (changed) =>
      this.#serveChanged(changed),
    );
    this.#keys = new Keys(swarmSettings, windowMs, leaseMs, this.#member, limitsForKey);
    this.#queue = new Queue({
      clock,
      maxQueue: swarm.maxQueue,
      decide: (asked, target, now) => this.#admit(asked, target, now, true),
      grant: (_asked, charge, decision) => this.#lease(charge, decision),
      prefer: ({ tiers, model, key, session, use }, targets) => {
        const candidates = tiersWithin(tiers, (id) => targets.some((target) => target.id === id));
        const { endpoint } = this.#router.route({ candidates, model, key, session, ...use });
        return targets.find(({ id }) => id === endpoint);
      },
      denial: (asked, target, now) => this.#denial(asked, target, now),
      closedMs: (asked, target, now) => {
        const obstacle = this.#obstacle(asked, target, now);
        return obstacle ? closedForMs(obstacle) : 0;
      },
      targetsOf: ({ candidates, model }) => this.#targetsOf(candidates, model),
      whyUnavailable: ({ model }, candidates, now) =>
        candidates
          .flatMap(({ id }) => {
            const reading = this.#availability.obstacle(id, model, now);
            return reading ? `${show(id)}: ${whyUnavailable(reading)}` : [];
          })
          .join("; "),
      isApart: ({ model }, { id }) => this.#availability.isApart(id, model),
      unknown: ({ candidates, model }) => unknownEndpoint(candidates, model, this.#targets),
      origin,
      isPaused: () => this.#isPaused,
      onWaiting: (isWaiting) => {
        this.#hasWaiters = isWaiting;
        this.#keepAlive();
      },
    });
    this.#router = new RoomRouter({
      manager: this.#manager,
      view: {
        others: (endpoint, model) =>
          othersOf(this.#targets.look(endpoint, model), this.#view, endpoint, model, clock.now()),
      },
      health: {
        obstacle: (endpoint, model, hasOther) => {
          const reading = this.#availability.obstacle(endpoint, model, clock.now(), hasOther);
          return reading && reading.waitMs > 0 ? { why: whyUnavailable(reading), waitMs: reading.waitMs } : undefined;
        },
        rank: (endpoint, model) => this.#availability.rank(endpoint, model, clock.now()),
        wasted: (endpoint, model) => {
          if (this.#wasted.isEmpty(clock.now())) return 0;
          const target = this.#targets.look(endpoint, model);
          return target ? this.#wasted.partOf(target, clock.now()) : 0;
        },
        latencyMs: (endpoint, model) =>
          this.#latencies.expected(endpoint, this.#targets.look(endpoint, model)?.inFlight ?? 0, clock.now()),
      },
      strategy,
      weights,
      clock,
    });
    this.#targets.refresh(split.further);
    // The view starts to sync at once, so it is created last: nothing after it throws.
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
    this.#revokeExit = closeAtExit(() => this.close(), this.#clock);
    return this.#member.open();
  }

  async acquire(request: HiveRequest): Promise<Lease> {
    checkObject("request", request);
    checkAcquireOptions(request);
    const { signal, timeoutMs = Infinity, priority = 0, whileWaiting } = request;
    if (signal?.aborted) throw signal.reason;
    const asked = this.#ask(request);
    const tried = this.#try(asked);
    return tried.lease ?? this.#queue.wait(tried.denied, asked, { signal, timeoutMs, priority, whileWaiting });
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

  async run<T>(request: HiveRequest, work: (lease: Lease) => T | PromiseLike<T>): Promise<T> {
    if (typeof work !== "function") throw new InvalidConfigError("work", "a function", work);
    const lease = await this.acquire(request);
    return runWith(lease, work, this.#refusalOf, { clock: this.#clock, leaseMs: this.#settings.leaseMs });
  }

  async ready(options: ReadyOptions = {}): Promise<void> {
    checkKnown(options, READY_OPTIONS);
    if (this.#closing) throw new ClosedError("hive");
    return this.#readiness.wait(options.signal, this.#clock.now());
  }

  route(request: RouteRequest): RoutingDecision {
    const { candidates, model } = request;
    const tiers = tiersOf(candidates, "candidates");
    const known = new Set(this.#known(tiers.flat(), model).map(({ id }) => id));
    return this.#router.route({ ...request, candidates: tiersWithin(tiers, (id) => known.has(id)) });
  }

  announceReduced(endpoint: string, reason: string, details: HiveReducedDetails = {}): void {
    checkKnown(details, HIVE_REDUCED_DETAILS, "", "details");
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

  park(endpoint: string, options: ParkOptions): void {
    if (this.#closing) throw new ClosedError("hive");
    const { model, forMs, reason } = this.#parking(endpoint, options);
    if (typeof reason !== "string") throw new InvalidConfigError("reason", "a string", reason);
    if (forMs !== undefined && !isAmount(forMs))
      throw new InvalidConfigError("forMs", "a finite number above 0, or absent", forMs);
    this.#availability.park(endpoint, model, forMs, reason);
  }

  unpark(endpoint: string, options: Pick<ParkOptions, "model"> = {}): void {
    if (this.#closing) throw new ClosedError("hive");
    this.#availability.unpark(endpoint, this.#parking(endpoint, options).model);
  }

  /** Checks and returns the options. Throws RESOURCE_UNKNOWN for an endpoint that the hive does not have. */
  #parking<O extends Pick<ParkOptions, "model">>(endpoint: string, options: O): O {
    checkKnown(options, PARK_OPTIONS);
    const { model } = options;
    if (model !== undefined && (typeof model !== "string" || model === ""))
      throw new InvalidConfigError("model", "a string that is not empty, or absent", model);
    if (!this.#targets.has(endpoint)) throw unknownEndpoint(endpoint, undefined, this.#targets);
    return options;
  }

  explain(endpoint: string, model?: string): HiveExplanation {
    return this.#explain(this.#targets.find(endpoint, model), model);
  }

  status(): HiveStatus {
    return {
      ...memberStatus(this.#member, this.#clock.now()),
      namespace: this.#settings.namespace,
      endpoints: [...this.#targets].flatMap((target) =>
        [...new Set([namesake(target), ...learnedModels(target), ...this.#closedModels(target)])].map((model) =>
          this.#explain(target, model),
        ),
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
    if (this.#closing) throw new ClosedError("hive");
    checkKnown(changes, CHANGES, "", "changes");
    const { endpoints, keys } = changes;
    const split = endpoints && this.#split(endpoints);
    const config = {
      ...(split ? { endpoints: split.endpoints } : {}),
      ...(keys ? { keys: splitKeys(keys) } : {}),
    };
    // A trial manager detects every mistake, so that the statements below cannot throw.
    const trial = new RateManager(this.#managerOptions);
    trial.loadConfig(config);
    this.#targets.check(trial.snapshot({ keys: false }).endpoints);
    this.#change(() => {
      this.#manager.loadConfig(config);
      if (keys) this.#setKeys(keys);
      if (split) this.#further = split.further;
    });
  }

  /** `nameOf` names an endpoint in errors, by its index. */
  #split(endpoints: readonly HiveEndpoint[], nameOf?: (index: number) => string): SplitEndpoints {
    const { mockEndpointTpmThreshold } = this.#managerOptions;
    return splitEndpoints(endpoints, mockEndpointTpmThreshold, this.#settings.windowMs, nameOf);
  }

  /** Applies a validated change of the limits. */
  #change(apply: () => void): void {
    // Waiters are not served while only some parts know the change.
    this.#isChanging = true;
    try {
      apply();
      this.#targets.refresh(this.#further);
      this.#member.wake();
      this.#queue.reconfigured();
    } finally {
      this.#isChanging = false;
    }
    this.#queue.unblock(this.#targets);
  }

  addEndpoint(endpoint: HiveEndpoint): void {
    if (this.#closing) throw new ClosedError("hive");
    checkObject("endpoint", endpoint);
    const { id, model, models } = endpoint;
    const { endpoints, further } = this.#split([endpoint], () => "endpoint");
    const trial = new RateManager(this.#managerOptions);
    for (const plain of endpoints) {
      checkEndpoint(plain, "endpoint.");
      trial.setEndpoint(plain);
    }
    this.#targets.check(trial.snapshot({ keys: false }).endpoints, "endpoint");
    this.#change(() => {
      for (const plain of endpoints) this.#manager.setEndpoint(plain);
      const others = [...this.#further].filter(([name]) => name !== targetName({ id, model, models }));
      this.#further = new Map([...others, ...further]);
    });
  }

  removeEndpoint(id: string, model?: string): boolean {
    if (this.#closing) throw new ClosedError("hive");
    let isKnown = false;
    this.#change(() => {
      isKnown = this.#manager.removeEndpoint(id, model);
    });
    return isKnown;
  }

  pause(): void {
    if (this.#closing) throw new ClosedError("hive");
    this.#isPaused = true;
    // Withdraws the claims of the waiting calls.
    for (const target of this.#targets) this.#serve(target);
  }

  resume(): void {
    this.#isPaused = false;
    this.#queue.unblock(this.#targets);
  }

  get isPaused(): boolean {
    return this.#isPaused;
  }

  async close(options: { readonly drainMs?: number | undefined } = {}): Promise<void> {
    checkKnown(options, CLOSE_OPTIONS);
    const { drainMs = 0 } = options;
    if (!(typeof drainMs === "number" && drainMs >= 0)) throw new InvalidConfigError("drainMs", "0 or more", drainMs);
    this.#closing ??= this.#close(drainMs);
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(drainMs: number): Promise<void> {
    // Set before waiters are rejected, so that requests from their handlers are rejected as well.
    this.#closing = Promise.resolve();
    this.#revokeExit();
    this.#queue.close();
    this.#readiness.close();
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
    if (this.#closing) throw new ClosedError("hive");
    const asked = askedOf(request);
    return asked.hasTokens ? asked : this.#estimated(asked);
  }

  /**
   * Completes a request without a number of tokens. Throws INVALID_CONFIG where tokens are limited by configuration,
   * because counted as 0 the request would evade the limit. Learned limits may become known at any time, so the mean of
   * earlier calls counts there.
   */
  #estimated(asked: Asked): Asked {
    const { candidates, model, key } = asked;
    const targets = this.#targetsOf(candidates, model);
    const limited = targets.find(({ count }) => TOKEN_LIMITS.some((limit) => count[limit] < Infinity));
    if (limited) throw new InvalidConfigError("tokens", `given, because ${show(limited.id)} limits tokens`, undefined);
    const limits = key === undefined ? undefined : this.#keys.limitsOf(key);
    if (limits?.tpmLimit !== undefined)
      throw new InvalidConfigError("tokens", `given, because the key ${show(key)} limits tokens`, undefined);
    const learned = targets
      .flatMap((target) => [(model === undefined ? undefined : target.byModel?.get(model)) ?? [], target].flat())
      .find(({ learned: of }) => of.tokens || of.inputTokens || of.outputTokens);
    return learned ? { ...asked, use: learned.typical } : asked;
  }

  /** Tries the candidates in the router's order. If all deny the request, the denials are sorted by their wait. */
  #try(asked: Asked): Tried {
    const { candidates: all, model, key, session, use } = asked;
    const only = all.length === 1 ? this.#targets.look(all[0] as string, model) : undefined;
    if (only) return this.#tryOne(asked, only);
    const targets = this.#known(all, model);
    if (targets.length === 1) return this.#tryOne(asked, targets[0] as Target);
    const denied: Denied[] = [];
    const isAllKnown = targets.length === asked.candidates.length;
    const tiers = isAllKnown
      ? asked.tiers
      : tiersWithin(asked.tiers, (id) => this.#targets.look(id, model) !== undefined);
    for (const { endpoint, local } of this.#router.inOrder(tiers, { model, key, session, ...use })) {
      const result = this.#tryOne(asked, this.#targets.find(endpoint, model), local);
      if (result.lease) return result;
      denied.push(...result.denied);
    }
    return { lease: undefined, denied: denied.sort((a, b) => rank(a.decision) - rank(b.decision)) };
  }

  /** Tries one candidate. `local` is the denial by the counts of this process, where it is known already. */
  #tryOne(asked: Asked, target: Target, local?: RateDecision): Tried {
    const now = this.#clock.now();
    const verdict = this.#admit(asked, target, now, false, local);
    const { decision, charge } = verdict;
    if (charge) return { lease: this.#lease(charge, decision), decision };
    return { lease: undefined, denied: [{ target, decision, blockedBy: verdict.blockedBy }] };
  }

  /** The targets of the known candidates. Warns once about each unknown one; throws RESOURCE_UNKNOWN when none is known. */
  #known(candidates: readonly string[], model: string | undefined): readonly Target[] {
    const targets = this.#targetsOf(candidates, model);
    if (targets.length === 0) throw unknownEndpoint(candidates, model, this.#targets);
    if (targets.length < candidates.length)
      for (const id of candidates) if (!this.#targets.look(id, model)) this.#unknown.warn(id, this.#targets.ids());
    return targets;
  }

  #targetsOf(candidates: readonly string[], model: string | undefined): readonly Target[] {
    const targets: Target[] = [];
    for (const endpoint of candidates) {
      const target = this.#targets.look(endpoint, model);
      if (target) targets.push(target);
    }
    return targets;
  }

  /** Decides on a request, and counts it when it is granted. A request does not overtake waiters. */
  #admit(asked: Asked, target: Target, now: number, isNext = false, local?: RateDecision): Verdict {
    const isHeldBack = this.#isHeldBack();
    const obstacle = isHeldBack ? undefined : this.#obstacle(asked, target, now);
    const closedMs = obstacle?.waitMs ?? 0;
    const verdict: Verdict =
      closedMs > 0 || isHeldBack || (!isNext && this.#isBehind(asked, target, now))
        ? {
            charge: undefined,
            decision: this.#denial(asked, target, now) as RateDecision,
            blockedBy: [],
            blockedMs: closedMs,
          }
        : admit(this.#counts, target, this.#scopes(asked, target, now), asked, now, local);
    if (this.#observations) {
      this.#observations.decided(target.id, verdict.decision);
      if (verdict.charge) return verdict;
      const { decision } = verdict;
      return { charge: admitAnyway(target, this.#scopes(asked, target, now), asked, now), decision };
    }
    const { charge } = verdict;
    if (!charge) return verdict;
    if (obstacle) {
      charge.isProbe = true;
      this.#availability.beginProbe(target.id, asked.model, now);
    }
    for (const { tried } of charge.shares) tried.granted();
    for (const { shares } of charge.scopes) for (const { tried } of shares) tried.granted();
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
    const ofModel = scopeOf(target, model);
    return [...(ofKey ? [ofKey] : []), ...(ofModel ? [ofModel] : [])];
  }

  /** True when a request would overtake a waiter of its target or of one of its scopes. */
  #isBehind(asked: Pick<Asked, "key" | "model">, target: Target, now: number): boolean {
    if (target.line?.isWaiting(this.#groupOf(asked, target), now)) return true;
    return isBlocked(this.#keys.peek(asked.key)) || isBlocked(scopeOf(target, asked.model));
  }

  #groupOf(asked: Pick<Asked, "key" | "model">, target: Target): string {
    return groupOf(asked, target, this.#availability.isApart(target.id, asked.model));
  }

  /** The denial of a request at the end of the target's line. Undefined when the request could be sent at once. */
  #denial(
    { candidates, model, key, use }: Pick<Asked, "candidates" | "model" | "key" | "use">,
    target: Target,
    now: number,
  ): RateDecision | undefined {
    const { tokens, inputTokens, outputTokens } = use;
    const of = modelOf(target, model);
    const local = this.#manager.peek({ endpoint: target.id, model: of, key, tokens, inputTokens, outputTokens });
    // Only `resume` ends the wait, unless the request is too large for any window.
    if (this.#isHeldBack() && local.reason !== "too-large")
      return { ...local, allowed: false, limitedBy: "paused", reason: "rate", retryAfterMs: undefined };
    const scopes = this.#knownScopes({ key, model }, target);
    const limits = this.#isBehind({ key, model }, target, now)
      ? denialOf(target, scopes, use, local, target.line?.wanted(now) ?? NOTHING, now, true)
      : denialOf(target, scopes, use, local, undefined, now);
    const obstacle = this.#obstacle({ candidates, model }, target, now);
    const isClosed = obstacle !== undefined && obstacle.waitMs > 0;
    return isClosed && limits?.reason !== "too-large" ? unavailableDecision(local, obstacle, limits) : limits;
  }

  /**
   * Returns the obstacle to a call at this target. A call with another available candidate waits for the whole closure
   * of an endpoint; other calls may probe earlier.
   */
  #obstacle(
    { candidates, model }: Pick<Asked, "candidates" | "model">,
    { id }: Target,
    now: number,
  ): AvailabilityReading | undefined {
    const obstacle = this.#availability.obstacle(id, model, now);
    if (!obstacle || candidates.length === 1) return obstacle;
    const hasOther = candidates.some((other) => other !== id && !this.#availability.obstacle(other, model, now));
    return hasOther ? this.#availability.obstacle(id, model, now, true) : obstacle;
  }

  #reportGranted(target: Target, cost: number, { allowed, limitedBy, reason }: RateDecision): void {
    // A literal costs a fraction of a spread, and every call has this event.
    const { source, agentId } = this.#member.origin;
    const event = { source, agentId, resource: target.id, model: namesake(target), cost };
    if (allowed) granted.publish(event);
    // An observing hive also grants requests that it denies. The event shows the decision of an enforcing hive.
    else granted.publish({ ...event, wouldHave: reason === "too-large" ? "been-denied" : "waited", limitedBy });
  }

  #lease(charge: Charge, decision: RateDecision): Lease {
    const { target, use, scopes } = charge;
    target.inFlight++;
    for (const { scope } of scopes) scope.inFlight++;
    if (granted.hasSubscribers) this.#reportGranted(target, use.tokens, decision);
    return this.#leases.give(charge);
  }

  /**
   * Reports a refusal. A rate limit cuts the limits that were learned for the model, or else those of the target.
   * Overload and exhausted quotas concern availability and cut nothing. An observing hive also sends denied requests; a
   * refusal of such a request is no evidence against the limits.
   */
  #refused(
    target: Target,
    model: string | undefined,
    { reason, retryAfterMs, kind: said = "limit", concerns }: Refusal,
    sentAgoMs: number,
    { isProbe = false, wasDenied = false, sent }: { isProbe?: boolean; wasDenied?: boolean; sent?: SentAs } = {},
  ): void {
    const isLong = said === "limit" && retryAfterMs !== undefined && retryAfterMs > LONG_WAIT_MS;
    const kind = isLong ? "quota" : said;
    const outcome = ({ limit: "limited", overload: "overload", quota: "quota" } as const)[kind];
    const now = this.#clock.now();
    const sentAt = now - sentAgoMs;
    const { id: endpoint } = target;
    this.#availability.answered(
      { endpoint, model, outcome, concerns, sentAt, ...sent, isProbe, retryAfterMs, reason },
      now,
    );
    if (announced.hasSubscribers) announced.publish({ ...this.#about(target), reason, sentAgoMs, retryAfterMs, kind });
    const share = limitedShare(target, model);
    if (kind === "overload") {
      // An overload shows that too many calls are under way.
      const slots = target.shares.find(({ quota }) => quota.config.adaptive);
      if (slots) this.#member.refused(slots.quota, { sentAgoMs, isOverload: true, reason });
    }
    if (kind !== "limit") return;
    if (share && !wasDenied)
      this.#member.refused(share.quota, { sentAgoMs, retryAfterMs, isAnswer: sent !== undefined, reason });
    for (const each of target.models ?? [target.model])
      this.#router.refused(target.id, { model: each, ...(retryAfterMs && retryAfterMs > 0 ? { retryAfterMs } : {}) });
  }

  /** True while `pause` holds back this process. An observing hive holds back nothing. */
  #isHeldBack(): boolean {
    return this.#isPaused && !this.#observations;
  }

  /** Callers that wait keep the process alive. */
  #keepAlive(): void {
    this.#member.isAwaited = this.#hasWaiters || this.#readiness.isAwaited;
  }

  /** The subject of a diagnostic event. */
  #about(target: Target): OfResource {
    const { source, agentId } = this.#member.origin;
    return { source, agentId, resource: target.id, model: namesake(target) };
  }

  /** Models of a target that are not available. */
  #closedModels({ id, model, models }: Target): string[] {
    if (model !== undefined || models !== undefined) return [];
    const closed = this.#availability.closedModels(id, this.#clock.now());
    return closed.filter((name) => this.#targets.look(id, name)?.model === undefined);
  }

  /** Tries the waiters of an endpoint again whose availability has changed. */
  #availabilityChanged(endpoint: string): void {
    if (this.#isChanging) return;
    for (const target of this.#targets.ofEndpoint(endpoint)) if (target.line) this.#queue.regroup(target);
  }

  /** Serves the waiters of a quota. */
  #serveQuota(quota: string): void {
    this.#serveChanged(this.#keys.ofQuota(quota) ?? this.#targets.ofQuota(quota));
  }

  /** Serves the waiters of a target or a scope. */
  #serveChanged(changed: Target | Scope | undefined): void {
    if (!changed || this.#isChanging) return;
    if ("bound" in changed) this.#queue.unblockScope(changed);
    else this.#serve(changed);
  }

  /** The quotas that denied a `tryAcquire` and have no waiters: the denied call counts as demand there. */
  #deniedBy({ decision, target, blockedBy }: Denied): readonly Share[] {
    if (decision.reason === "too-large" || !this.#member.isShared) return [];
    if (blockedBy.length > 0) return blockedBy.flatMap(({ bound, shares }) => (bound.size === 0 ? shares : []));
    return decision.limitedBy?.startsWith("swarm-") && !target.line ? target.shares : [];
  }

  #serve(target: Target | undefined): void {
    if (target?.line && !this.#isChanging) this.#queue.serve(target);
  }

  #setKeys(keys: Readonly<Record<string, HiveKeyLimits>> = {}): void {
    const { keys: plain = new Map<string, KeyLimits>() } = readConfig({ keys: splitKeys(keys) });
    const limits = [...plain].map(
      ([key, rates]) => [key, { ...rates, maxInFlight: slotsOfKey(keys[key] ?? {}) }] as const,
    );
    this.#keys.configure(new Map(limits), this.#clock.now());
    if (this.#view && !this.#member.isShared && limits.length > 0)
      warn(
        "HIVEPACE_KEYS_LOCAL",
        "without a bus or a store that can grant limits, limits of keys hold for each process",
      );
  }

  #explain(target: Target, model: string | undefined): HiveExplanation {
    const observed = this.#observations?.of(target.id);
    const now = this.#clock.now();
    const denial = this.#denial({ candidates: [target.id], model, key: undefined, use: SMALL }, target, now);
    const availability = this.#availability.describe(target.id, model, now);
    // A denial without a limit means that waiters ahead are about to be served.
    const cause = denial?.limitedBy === undefined ? undefined : denial;
    return {
      ...explain(target, model, this.#member.agent, this.#view, cause, this.#settings.windowMs, availability, now),
      observed,
    };
  }

  #tell(change: Omit<CapacityUpdate, "timestamp">): void {
    if (this.#listeners.size > 0) this.#listeners.emit({ ...change, timestamp: new Date(this.#clock.epochMs()) });
  }
}

const CHANGES = { endpoints: true, keys: true } as const satisfies OptionNames<HiveChanges>;
const READY_OPTIONS = { signal: true } as const satisfies OptionNames<ReadyOptions>;
const CLOSE_OPTIONS = { drainMs: true } as const;
const PARK_OPTIONS = { model: true, forMs: true, reason: true } as const satisfies OptionNames<ParkOptions>;
const HIVE_REDUCED_DETAILS = { ...REDUCED_DETAILS, model: true } as const satisfies OptionNames<HiveReducedDetails>;
const NO_SCOPES: readonly Scope[] = [];
/** A rate limit with a longer wait counts as an exhausted quota, so that calls go to other endpoints. */
const LONG_WAIT_MS = 120_000;

/** The limits of a key in the form of a single-process manager. */
function plainLimits(limits: HiveKeyLimits | undefined): KeyLimits | undefined {
  return limits && splitKeys({ key: limits })["key"];
}

/** The scope of a model at a target, if it has one. */
function scopeOf({ byModel }: Target, model: string | undefined): Scope | undefined {
  return model === undefined ? undefined : byModel?.get(model);
}

/**
 * The quota that a refusal cuts: the first of the limits that were learned for the model, or of the target. Limits of the
 * model that only lower configured ones may be unknown to the other agents, so that these cut the target.
 */
function limitedShare(target: Target, model: string | undefined): Share | undefined {
  const ofModel = scopeOf(target, model)?.shares.filter(
    ({ dimensions }) => !dimensions.every((dimension) => target.count[CONFIGURED[dimension]] < Infinity),
  );
  return ofModel?.[0] ?? target.shares[0];
}

/** True while a scope has waiters, which later requests must not overtake. */
function isBlocked(scope: Scope | undefined): boolean {
  return scope !== undefined && scope.bound.size > 0;
}

/** The models of a target that have learned limits. */
function learnedModels({ byModel }: Target): string[] {
  return [...(byModel?.values() ?? [])].flatMap(({ model, shares }) => (shares.length > 0 ? [model] : []));
}

/** Usage of zero calls. */
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
  if (reason === "too-large" || reason === "in-flight" || reason === "unavailable") return reason;
  return line ? "others-wait" : "no-tokens";
}

/** A copy of the decision that cannot be settled. All copies have one shape, because one is made for every request. */
function decisionOf(decision: RateDecision, endpoint: string, lease: Lease | undefined): HiveDecision {
  const copy = {
    // An observing hive also grants requests that it denies.
    allowed: lease !== undefined,
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
  return copy as HiveDecision;
}
