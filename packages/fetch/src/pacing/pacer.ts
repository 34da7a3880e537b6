import type { AbortSignalLike, CallOrigin, Clock, Gate, GateRoute, Lease } from "@hivepace/core";
import { onAbort, warn } from "@hivepace/core/internal";
import type { CallFacts } from "../call/call-facts.ts";
import { isKnownProvider } from "../call/provider-rules.ts";
import { checkGate } from "../options.ts";
import { isWorthWaiting, type ProviderSignal, reducesCapacity } from "../signal/provider-signal.ts";
import { countedUsage, type ReportedUsage } from "../usage/reported-usage.ts";
import type { TokenEstimate, TokenEstimator } from "../usage/token-estimator.ts";
import type { CallEvents } from "./call-events.ts";
import { connectionFailure } from "./connection-failure.ts";
import { type FailedCall, fail, mayRepeat } from "./failure.ts";
import { observationOf } from "./observation.ts";
import { publishSending } from "./publish-sending.ts";
import { RetryBudgets } from "./retry-budget.ts";
import { type RetryPolicy, retryDelayMs } from "./retry-policy.ts";
import { endpointsOf, without } from "./route.ts";
import { KnownEndpoints, type UnknownPolicy } from "./unknown-endpoint.ts";

export interface PacerSettings {
  readonly clock: Clock;
  readonly random: () => number;
  readonly estimator: TokenEstimator;
  readonly retry: RetryPolicy;
  readonly unknown: UnknownPolicy | undefined;
  readonly events: CallEvents;
}

/** One call, which may be sent several times. */
export interface PacedCall {
  readonly provider: string;
  readonly facts: CallFacts;
  /** Estimates the call by the answers so far. */
  readonly estimate: () => TokenEstimate;
  /** The endpoints to which the call may go. */
  readonly route: GateRoute;
  readonly key?: string | undefined;
  readonly session?: string | undefined;
  readonly priority?: number | undefined;
  readonly signal?: AbortSignalLike | undefined;
  /** Upper bound of all waits of the call together. */
  readonly timeoutMs: number;
  /** Whether the request can be sent a second time: the body of a stream cannot. */
  readonly isReplayable: boolean;
  /** Number of moves of the call along its fallbacks. */
  readonly moves?: number | undefined;
  /** The endpoint and model of the fallback before this one. */
  readonly movedFrom?: CallOrigin | undefined;
  /** Called before each sending, with the endpoint at which it counts and the number of moves so far. */
  readonly onSend?: ((endpoint: string, moves: number) => void) | undefined;
}

/** The outcome of one sending. A refusal has its signal; the caller gets `result` unless a retry succeeds. */
export interface Sending<T> {
  readonly result: T;
  readonly refusal: ProviderSignal | undefined;
  /** The call failed without a refusal: a server error, rejected credentials, an unknown model. */
  readonly failure?: FailedCall | undefined;
  /** The provider has said that the refused request must not be sent to it again. */
  readonly isFinal?: boolean | undefined;
}

/** The usage that an answer reported. */
export interface Answered {
  readonly usage: ReportedUsage | undefined;
  /** Number of pieces of a stream, which is about the number of output tokens. */
  readonly pieces: number;
  /** Whether the answer was read to its end. */
  readonly isWhole: boolean;
}

/** A request under way. */
interface Sent {
  readonly at: number;
  /** The endpoint at which the gate counts it. */
  readonly countedAt: string | undefined;
  /** Whether it was sent before any answer of its model. */
  readonly isFirst: boolean;
}

const NO_TOKENS = { tokens: 0, inputTokens: 0, outputTokens: 0 };
/** Waits shorter than this are not reported. */
const NOTICED_MS = 1;
/** Interval of lease renewals while an answer streams. */
const RENEW_MS = 30_000;

/** The lifecycle of a call for every kind of client: lease, sending, settlement, backoff and retry. */
export class Pacer {
  readonly #gate: Gate;
  readonly #settings: PacerSettings;
  readonly #known: KnownEndpoints;
  readonly #sent = new WeakMap<Lease, Sent>();
  readonly #budgets = new RetryBudgets();
  #hasWarned = false;

  constructor(gate: Gate, settings: PacerSettings) {
    checkGate(gate);
    this.#gate = gate;
    this.#settings = settings;
    this.#known = new KnownEndpoints(gate, settings.unknown);
  }

  /** Returns the result of `attempt`, for callers without fallbacks. */
  async run<T>(call: PacedCall, send: (lease: Lease) => Promise<Sending<T>>): Promise<T> {
    return (await this.attempt(call, send)).result;
  }

  /**
   * Sends with a lease, again after refusals that pass, within the call's time. Resolves with the answer or the last refusal.
   * Rejects with the gate's error if nothing was sent, or with the error that `send` throws.
   */
  async attempt<T>(call: PacedCall, send: (lease: Lease) => Promise<Sending<T>>): Promise<Sending<T>> {
    const { clock, retry, random, events } = this.#settings;
    const { model } = call.facts;
    const deadline = clock.now() + call.timeoutMs;
    let route = call.route;
    let last: Sending<T> | undefined;
    let lastError: { readonly error: unknown } | undefined;
    let delayMs = 0;
    let { moves = 0, movedFrom } = call;
    for (let retries = 0; ; retries++) {
      let lease: Lease;
      const askedAt = clock.now();
      try {
        lease = await this.#waiting(call, route, (counts) => this.#acquire(call, route, deadline, counts));
      } catch (error) {
        if (call.signal?.aborted) throw error;
        if (last !== undefined) return last;
        throw lastError ? lastError.error : error;
      }
      const { endpoint } = lease;
      // The name under which configuration and metrics know the call. The host of a call is not always known to the gate.
      const named = this.#sent.get(lease)?.countedAt ?? endpoint;
      call.onSend?.(named, moves);
      if (retries === 0) this.#budgets.began(endpoint, model);
      events.emit({ type: "sent", endpoint: named, model, waitedMs: clock.now() - askedAt, retries });
      const others = without(route, endpoint);
      const [to] = endpointsOf(others);
      const move = (): boolean => {
        if (to === undefined || retries >= retry.maxRetries) return false;
        events.emit({ type: "moved", endpoint: named, model, to, toModel: model });
        route = others;
        delayMs = 0;
        moves++;
        movedFrom = { resource: named, model };
        return true;
      };
      try {
        last = await publishSending(call, { retries, delayMs, moves, movedFrom }, lease, clock, () => send(lease));
      } catch (error) {
        this.#failed(lease, call);
        const failure = connectionFailure(error);
        if (!failure || !mayRepeat(failure, call) || !move()) throw error;
        last = undefined;
        lastError = { error };
        continue;
      }
      const { refusal, failure } = last;
      if (refusal ?? failure) this.#failed(lease, call);
      if (refusal === undefined) {
        if (failure && mayRepeat(failure, call) && move()) continue;
        if (!failure) this.#budgets.succeeded(endpoint, model);
        return last;
      }
      events.emit({
        type: "refused",
        endpoint: named,
        model,
        refusal: refusal.class,
        retryAfterMs: refusal.retryAfterMs,
      });
      if (!call.isReplayable) return last;
      // Another endpoint need not wait for what this one asks for, nor lack what this one lacks.
      if (refusal.class !== "request_too_large" && move()) continue;
      const wait = last.isFinal ? undefined : retryDelayMs(refusal, retries, retry, random());
      if (wait === undefined || clock.now() + wait >= deadline) return last;
      if (refusal.class === "overloaded" && !this.#budgets.take(endpoint, model)) return last;
      delayMs = wait;
      events.emit({ type: "retrying", endpoint: named, model, delayMs });
      route = call.route;
      await sleep(clock, delayMs, call.signal);
    }
  }

  /** Passes the limits of an answer to the gate. An error of the gate does not affect the call. */
  observe(signal: ProviderSignal, call: PacedCall, lease: Lease): void {
    if (this.#gate.observe === undefined) return;
    const now = this.#settings.clock.now();
    const { at = now, countedAt: endpoint = lease.endpoint } = this.#sent.get(lease) ?? {};
    const { facts, provider } = call;
    if (!teachesLimits(call)) return;
    const observation = observationOf(signal, { endpoint, model: facts.model, provider });
    if (observation === undefined) return;
    try {
      this.#gate.observe({ ...observation, sentAgoMs: now - at });
    } catch (error) {
      if (!this.#hasWarned) warn("HIVEPACE_GATE_FAILED", "the gate failed to take an observation", error);
      this.#hasWarned = true;
    }
  }

  /**
   * Ends the lease of a refused request. A quota that is gone closes the model; a lacking entitlement is a failure of
   * the model; a request that is too large is no evidence about the endpoint or the model.
   */
  refuse(lease: Lease, signal: ProviderSignal, status: number | undefined): void {
    const reason = status === undefined ? String(signal.class) : `${status} ${signal.class}`;
    const retryAfterMs = signal.cooldownMs ?? signal.retryAfterMs;
    if (signal.class === "quota_exhausted" || signal.class === "quota_window_long") {
      lease.refused({ reason, retryAfterMs, kind: "quota" });
      return;
    }
    if (signal.class === "not_entitled") {
      fail(lease, { reason, used: NO_TOKENS });
      return;
    }
    if (!isWorthWaiting(signal.class)) {
      lease.done(NO_TOKENS);
      return;
    }
    lease.refused({
      reason,
      retryAfterMs,
      kind: reducesCapacity(signal.class) ? "limit" : "overload",
    });
  }

  /** Ends the lease of an answered request with the reported usage, or with an estimate if none was reported. */
  settle(lease: Lease, call: PacedCall, answer: Answered): void {
    const { estimate, facts, provider } = call;
    const { usage, pieces, isWhole } = answer;
    if (usage === undefined) {
      const { inputTokens } = estimate();
      if (pieces === 0) lease.done();
      else lease.done({ tokens: inputTokens + pieces, inputTokens, outputTokens: pieces });
      return;
    }
    // A stream that was abandoned early has reported its input, and only the first part of its output.
    const { output = 0 } = usage;
    const counted = countedUsage(provider, { ...usage, output: isWhole ? output : Math.max(output, pieces) }, facts);
    const { promptTokens, cachedTokens, ...used } = counted;
    const { isFirst } = this.#sent.get(lease) ?? {};
    const seen = { promptTokens, cachedTokens, outputTokens: isWhole ? used.outputTokens : undefined, isFirst };
    // Calls that wait for this lease to end are estimated with this answer.
    this.#settings.estimator.learn(provider, facts, seen, call.session);
    lease.done(used);
  }

  /** Returns a function that renews the lease at most once per `RENEW_MS`, to be called for every chunk. */
  renewal(lease: Lease): () => void {
    let renewedAt = this.#settings.clock.now();
    return () => {
      const now = this.#settings.clock.now();
      if (now - renewedAt < RENEW_MS) return;
      renewedAt = now;
      // Leases that never expire may lack `renew` in a gate that was written without types.
      lease.renew?.();
    };
  }

  #failed(lease: Lease, { provider, facts }: PacedCall): void {
    if (this.#sent.get(lease)?.isFirst) this.#settings.estimator.failed(provider, facts);
  }

  /** Emits a `waiting` event when the gate does not grant a lease at once. */
  async #waiting<T>(
    { facts }: PacedCall,
    route: GateRoute,
    acquire: (counts?: (endpoint: string) => void) => Promise<T>,
  ): Promise<T> {
    const { clock, events } = this.#settings;
    if (!events.isHeard) return acquire();
    let [endpoint = ""] = endpointsOf(route);
    const emit = (): void => events.emit({ type: "waiting", endpoint, model: facts.model });
    const cancel = clock.after(NOTICED_MS, emit, { background: true });
    try {
      return await acquire((counted) => {
        endpoint = counted;
      });
    } finally {
      cancel();
    }
  }

  /** `counts` hears of another endpoint at which the gate counts the call. */
  async #acquire(
    call: PacedCall,
    route: GateRoute,
    deadline: number,
    counts?: (endpoint: string) => void,
  ): Promise<Lease> {
    const { estimate, facts, provider, key, session, priority, signal } = call;
    const { clock, estimator } = this.#settings;
    const endpoints = endpointsOf(route);
    const [first] = endpoints;
    const { lease, countedAt } = await this.#known.acquire(
      {
        ...(endpoints.length === 1 && first !== undefined ? { endpoint: first } : { route }),
        model: facts.model,
        key,
        session,
        priority,
        signal,
        ...estimate(),
        whileWaiting: (revise) => estimator.onLearned(provider, facts, () => revise(estimate())),
        timeoutMs: Math.max(0, deadline - clock.now()),
      },
      counts,
    );
    const isFirst = estimator.sent(provider, facts);
    this.#sent.set(lease, { at: clock.now(), countedAt, isFirst });
    return lease;
  }
}

/**
 * Whether the limits in an answer are those of the model of the call. Token counting has limits of its own, and at
 * providers that limit models, a call without a model is no evidence about any model.
 */
function teachesLimits({ facts, provider }: PacedCall): boolean {
  if (facts.isTokenCount) return false;
  return facts.model !== undefined || !isKnownProvider(provider);
}

/** Rejects with the signal's reason as soon as it is aborted; leaves neither timer nor listener behind. */
function sleep(clock: Clock, ms: number, signal: AbortSignalLike | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const cancel = clock.after(ms, () => {
      stopListening?.();
      resolve();
    });
    const stopListening =
      signal &&
      onAbort(signal, () => {
        cancel();
        reject(signal.reason);
        return undefined;
      });
  });
}
