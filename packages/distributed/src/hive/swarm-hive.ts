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
  type Refusal,
  type SyncStore,
  type UsedTokens,
} from "@hivepace/core";
import { announced, checkAcquireOptions, denied, ended, granted, Listeners, warn } from "@hivepace/core/internal";
import { startGlobalView } from "../global-view/global-view.ts";
import type { GlobalView } from "../global-view/view-types.ts";
import { CapacityWatch } from "../limiter/capacity-watch.ts";
import { Member } from "../limiter/member.ts";
import { memberStatus } from "../limiter/status.ts";
import { createRouter } from "../router/router.ts";
import type { RouteRequest, Router, RoutingDecision } from "../router/router-types.ts";
import { admit, admitAnyway, type Charge, giveBack, settle } from "./admission.ts";
import { usedOf } from "./amounts-of.ts";
import { type Asked, askedOf } from "./asked.ts";
import type { HiveSettings } from "./config.ts";
import { explain } from "./explain.ts";
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
import { learnFrom } from "./learning.ts";
import { LeaseBook } from "./lease-book.ts";
import type { HiveWaiter } from "./line.ts";
import { Observations } from "./observations.ts";
import { othersOf } from "./others.ts";
import { Queue } from "./queue.ts";
import { SharedKeys } from "./shared-keys.ts";
import { namesake, type Target } from "./target.ts";
import { Targets } from "./targets.ts";

/** The hive that programs hold: asks, reports and changes go to the part that knows. */
export class SwarmHive implements Hive {
  readonly #settings: HiveSettings;
  readonly #clock: Clock;
  readonly #manager: RateManager;
  readonly #member: Member;
  readonly #watch: CapacityWatch;
  readonly #targets: Targets;
  readonly #queue: Queue;
  readonly #leases: LeaseBook;
  readonly #router: Router;
  readonly #view: GlobalView | undefined;
  readonly #keys: SharedKeys | undefined;
  readonly #observations: Observations | undefined;
  readonly #listeners = new Listeners<CapacityUpdate>();
  /** Closes what was handed over. */
  readonly #dispose: () => Promise<void>;
  #closing: Promise<void> | undefined;

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
    this.#manager = new RateManager({
      windowMs,
      mockEndpointTpmThreshold,
      limitsForKey,
      clock,
      diagnostics: false,
    });
    // Throws what is wrong with the endpoints and keys before anything is begun.
    this.#manager.loadConfig({ endpoints: options.endpoints, keys: options.keys ?? {} });
    this.#member = new Member(swarm, {
      serve: (pool) => this.#serve(this.#targets.ofPool(pool)),
      look: (now) => this.#watch.look(now),
      source: "hive",
    });
    const { agent, origin } = this.#member;
    this.#watch = new CapacityWatch(agent, origin, (change) => this.#tell(change));
    this.#targets = new Targets(settings.swarm, windowMs, this.#manager, this.#member, this.#watch, (target) =>
      this.#serve(target),
    );
    this.#queue = new Queue({
      clock,
      maxQueue: swarm.maxQueue,
      rerouteMs: swarm.heartbeatIntervalMs,
      attempt: (waiter, target, now) => this.#attempt(waiter, target, now),
      find: (endpoint, model) => this.#targets.look(endpoint, model),
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
    // Only now, when nothing can be wrong any more: it begins to sync at once.
    this.#view = store && startGlobalView({ manager: this.#manager, store, agentId, namespace, keys: true, clock });
    this.#keys = this.#view && new SharedKeys(this.#manager, this.#view);
    this.#view?.onSync(() => {
      if (this.#keys?.refresh()) this.#queue.unblock(this.#targets);
    });
    this.#setKeys(options.keys);
  }

  get agentId(): string {
    return this.#settings.swarm.agentId;
  }

  get mode(): "enforce" | "observe" {
    return this.#settings.mode;
  }

  /** Resolves when the bus has subscribed it. */
  open(): Promise<void> {
    return this.#member.open();
  }

  async acquire(request: HiveRequest): Promise<Lease> {
    checkAcquireOptions(request);
    const { signal, timeoutMs = Infinity, priority = 0 } = request;
    if (signal?.aborted) throw signal.reason;
    const asked = this.#ask(request);
    const { lease, target, decision } = this.#try(asked);
    if (lease) return lease;
    return this.#queue.wait(target, asked, { signal, timeoutMs, priority }, decision);
  }

  tryAcquire(request: HiveRequest): HiveDecision {
    const asked = this.#ask(request);
    const { lease, target, decision } = this.#try(asked);
    const { id: endpoint } = target;
    if (lease) return decisionOf(decision, endpoint, lease);
    const now = this.#clock.now();
    // It wants it all the same.
    if (!target.line && decision.reason === "rate" && decision.limitedBy?.startsWith("swarm-"))
      for (const share of target.shares) share.tried.denied(share.amounts(asked.use), now);
    if (denied.hasSubscribers) {
      const { limitedBy } = decision;
      denied.publish({ ...this.#about(target), cost: asked.use.tokens, reason: reasonOf(decision, target), limitedBy });
    }
    return decisionOf(decision, endpoint, undefined);
  }

  route(request: RouteRequest): RoutingDecision {
    return this.#router.route(request);
  }

  announceReduced(endpoint: string, reason: string, details: HiveReducedDetails = {}): void {
    if (typeof reason !== "string") throw new InvalidConfigError("reason", "a string", reason);
    const { model, sentAgoMs = 0, retryAfterMs, kind } = details;
    for (const [option, value] of Object.entries({ sentAgoMs, retryAfterMs }))
      if (value !== undefined && !(value >= 0)) throw new InvalidConfigError(option, "0 or more", value);
    const targets =
      model === undefined ? [...this.#targets.ofEndpoint(endpoint)] : [this.#targets.find(endpoint, model)];
    for (const target of targets) this.#refused(target, { reason, retryAfterMs, kind }, sentAgoMs);
  }

  observe(observation: LimitObservation): void {
    if (this.#closing) return;
    const target = this.#targets.look(observation.endpoint, observation.model);
    if (!target) return;
    const { windowMs } = this.#settings;
    if (learnFrom(target, observation, this.#member, this.#targets, windowMs, this.#clock.now())) this.#serve(target);
  }

  explain(endpoint: string, model?: string): HiveExplanation {
    return this.#explain(this.#targets.find(endpoint, model), model);
  }

  status(): HiveStatus {
    return {
      ...memberStatus(this.#member, this.#clock.now()),
      namespace: this.#settings.namespace,
      endpoints: [...this.#targets].map((target) => this.#explain(target, namesake(target))),
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
    const { endpoints, keys } = changes;
    this.#manager.loadConfig({ ...(endpoints ? { endpoints } : {}), ...(keys ? { keys } : {}) });
    if (keys) this.#setKeys(keys);
    for (const target of endpoints ? this.#targets.refresh() : []) this.#queue.clear(target, "removed");
    this.#member.wake();
    this.#queue.unblock(this.#targets);
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
    // Set before anyone is sent away, so that whoever asks again at once is refused.
    this.#closing = Promise.resolve();
    for (const target of this.#targets) this.#queue.clear(target, "closed");
    this.#queue.close();
    try {
      await this.#leases.empty(drainMs);
      this.#leases.close();
      this.#targets.close();
      // The last counts and the goodbye go out before what carries them is closed.
      await this.#view?.close();
      await this.#member.close();
    } finally {
      this.#listeners.clear();
      await this.#dispose();
    }
  }

  #ask(request: GateRequest): Asked {
    if (this.#closing) throw new ClosedError();
    return askedOf(request);
  }

  /** One after the other of those that would do, as the router has them, until one has room. */
  #try(asked: Asked): { lease: Lease | undefined; target: Target; decision: RateDecision } {
    const { model, key, session, use } = asked;
    const [only] = asked.candidates as [string];
    if (asked.candidates.length === 1) return this.#tryOne(asked, this.#targets.find(only, model));
    let candidates = asked.candidates;
    let first: { target: Target; decision: RateDecision } | undefined;
    while (candidates.length > 0) {
      const routed = this.#router.route({ candidates, model, key, session, ...use });
      const result = this.#tryOne(asked, this.#targets.find(routed.endpoint, model));
      if (result.lease) return result;
      // Whoever has to wait does so where the router thought best at first.
      first ??= result;
      candidates = candidates.filter((endpoint) => endpoint !== routed.endpoint);
    }
    return { lease: undefined, ...(first as { target: Target; decision: RateDecision }) };
  }

  #tryOne(asked: Asked, target: Target): { lease: Lease | undefined; target: Target; decision: RateDecision } {
    const now = this.#clock.now();
    const { decision, charge } = this.#admit(asked, target, now);
    const lease = charge && this.#lease(asked, charge, decision);
    return { lease, target, decision };
  }

  /** Nobody overtakes those who wait. */
  #admit(
    asked: Asked,
    target: Target,
    now: number,
    isNext = false,
  ): { charge: Charge | undefined; decision: RateDecision } {
    const { model, key, use } = asked;
    const isBehind = !isNext && target.line?.isWaiting(now) === true;
    const of = modelOf(target, model);
    let verdict = isBehind
      ? { charge: undefined, decision: this.#behind(asked, target, of, now) }
      : admit(this.#manager, target, of, key, use, now);
    // Its key may have been lowered for others in a window that is over.
    if (!verdict.charge && !isBehind && this.#keys?.renew(verdict.decision.windowStart))
      verdict = admit(this.#manager, target, of, key, use, now);
    if (this.#observations) {
      this.#observations.decided(target.id, verdict.decision);
      return { ...verdict, charge: verdict.charge ?? admitAnyway(target, use, now) };
    }
    if (verdict.charge) for (const { tried } of target.shares) tried.granted();
    return verdict;
  }

  /** What stands against someone who has to stand behind others. */
  #behind({ key, use }: Asked, target: Target, model: string | undefined, now: number): RateDecision {
    const { tokens, inputTokens, outputTokens } = use;
    const local = this.#manager.peek({ endpoint: target.id, model, key, tokens, inputTokens, outputTokens });
    const [share] = target.shares;
    if (local.allowed && share) return share.denial(share.amounts(use), local, now);
    const { currentTpm, limitTpm, currentRpm, limitRpm, utilization, windowStart, retryAfterMs, limitedBy } = local;
    const numbers = { currentTpm, limitTpm, currentRpm, limitRpm, utilization, windowStart, retryAfterMs, limitedBy };
    return { ...numbers, allowed: false, reason: local.reason ?? "in-flight" };
  }

  #attempt(waiter: HiveWaiter, target: Target, now: number): RateDecision | undefined {
    const { charge, decision } = this.#admit(waiter.asked, target, now, true);
    if (!charge) return decision;
    waiter.grant(this.#lease(waiter.asked, charge, decision));
    return undefined;
  }

  #lease({ model }: Asked, charge: Charge, decision: RateDecision): Lease {
    const { target, use, sentAt } = charge;
    target.inFlight++;
    if (granted.hasSubscribers)
      granted.publish({ ...this.#about(target), cost: use.tokens, ...(decision.allowed ? {} : wouldHave(decision)) });
    const end = (how: EndedEvent["how"], tokens: number): void => {
      target.inFlight--;
      if (ended.hasSubscribers)
        ended.publish({ ...this.#about(target), how, heldMs: this.#clock.now() - sentAt, tokens });
      // Others may have waited for one to end, or for what was given back.
      this.#serve(target);
    };
    return this.#leases.give(target.id, model, {
      done: (used: UsedTokens | undefined, isExpired: boolean) => {
        const really = used === undefined ? use : usedOf(used, use);
        settle(this.#manager, charge, really, this.#clock.now());
        end(isExpired ? "expired" : "done", really.tokens);
      },
      cancel: () => {
        giveBack(this.#manager, charge, this.#clock.now());
        end("cancelled", 0);
      },
      refused: (refusal: Refusal) => {
        if (typeof refusal?.reason !== "string") throw new InvalidConfigError("reason", "a string", refusal?.reason);
        giveBack(this.#manager, charge, this.#clock.now());
        this.#observations?.refused(target.id, charge.decision === undefined);
        this.#refused(target, refusal, this.#clock.now() - sentAt);
        end("refused", 0);
      },
    });
  }

  #refused(target: Target, { reason, retryAfterMs, kind }: Refusal, sentAgoMs: number): void {
    if (announced.hasSubscribers) announced.publish({ ...this.#about(target), reason, sentAgoMs, retryAfterMs, kind });
    const [share] = target.shares;
    const isOverload = kind === "overload";
    if (share) this.#member.refused(share.pool, { sentAgoMs, retryAfterMs, isOverload, reason });
    for (const model of target.models ?? [target.model])
      this.#router.refused(target.id, { model, ...(retryAfterMs && retryAfterMs > 0 ? { retryAfterMs } : {}) });
  }

  /** What an event is about. */
  #about(target: Target): OfResource {
    return { ...this.#member.origin, resource: target.id, model: namesake(target) };
  }

  #serve(target: Target | undefined): void {
    if (target?.line) this.#queue.serve(target);
  }

  #setKeys(keys: Readonly<Record<string, KeyLimits>> = {}): void {
    if (this.#keys) this.#keys.set(new Map(Object.entries(keys)));
    else if (this.#member.link && Object.keys(keys).length > 0)
      warn("HIVEPACE_KEYS_LOCAL", "without a store the limits of keys are for each process by itself");
  }

  #explain(target: Target, model: string | undefined): HiveExplanation {
    const observed = this.#observations?.of(target.id);
    return { ...explain(target, model, this.#member.agent, this.#view, this.#clock.now()), observed };
  }

  #tell(change: Omit<CapacityUpdate, "timestamp">): void {
    if (this.#listeners.size > 0) this.#listeners.emit({ ...change, timestamp: new Date(this.#clock.epochMs()) });
  }
}

function reasonOf({ reason }: RateDecision, { line }: Target): DeniedReason {
  if (reason === "too-large" || reason === "in-flight") return reason;
  return line ? "others-wait" : "no-tokens";
}

/** It only observes, and grants what it would have denied. */
function wouldHave({ reason, limitedBy }: RateDecision): Pick<GrantedEvent, "wouldHave" | "limitedBy"> {
  return { wouldHave: reason === "too-large" ? "been-denied" : "waited", limitedBy };
}

/** The manager knows a pool of models by each of them. */
function modelOf({ model, models }: Target, asked: string | undefined): string | undefined {
  return models || model === undefined ? asked : model;
}

/** A copy that is no one's to settle, in one shape: it is made for every request. */
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
