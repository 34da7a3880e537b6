import type { AbortSignalLike, Clock, Gate, Lease, SentEvent } from "@hivepace/core";
import { onAbort, sending, sent, warn } from "@hivepace/core/internal";
import type { CallFacts } from "../call/call-facts.ts";
import { isKnownProvider } from "../call/provider-rules.ts";
import { isWorthWaiting, type ProviderSignal, reducesCapacity } from "../signal/provider-signal.ts";
import { countedUsage, type ReportedUsage } from "../usage/reported-usage.ts";
import type { TokenEstimate, TokenEstimator } from "../usage/token-estimator.ts";
import type { CallEvents } from "./call-events.ts";
import { observationOf } from "./observation.ts";
import { type RetryPolicy, retryDelayMs } from "./retry-policy.ts";
import { KnownEndpoints, type UnknownPolicy } from "./unknown-endpoint.ts";

export interface PacerSettings {
  readonly clock: Clock;
  readonly random: () => number;
  readonly estimator: TokenEstimator;
  readonly retry: RetryPolicy;
  readonly unknown: UnknownPolicy | undefined;
  readonly events: CallEvents;
}

/** One call, however often it is sent. */
export interface PacedCall {
  readonly provider: string;
  readonly facts: CallFacts;
  readonly estimate: TokenEstimate;
  /** Where it may go: one or more endpoints. */
  readonly route: readonly string[];
  readonly key?: string | undefined;
  readonly session?: string | undefined;
  readonly priority?: number | undefined;
  readonly signal?: AbortSignalLike | undefined;
  /** How long it may wait, all its waits together. */
  readonly timeoutMs: number;
  /** Whether it can be sent again at all. */
  readonly isReplayable: boolean;
}

/** What became of sending it once. A refusal has its signal; `result` is what the caller gets if nothing else comes. */
export interface Sending<T> {
  readonly result: T;
  readonly refusal: ProviderSignal | undefined;
}

/** What an answer told of its usage. */
export interface Answered {
  readonly usage: ReportedUsage | undefined;
  /** Pieces of a stream that came: about as many tokens. */
  readonly pieces: number;
  /** It was read to its end. */
  readonly isWhole: boolean;
}

/** Shorter waits are not worth an event. */
const NOTICED_MS = 1;
/** How often a lease is renewed while its answer streams. */
const RENEW_MS = 30_000;

/** Asks the gate, sends, reports, waits and sends again: the same for every kind of client. */
export class Pacer {
  readonly #gate: Gate;
  readonly #settings: PacerSettings;
  readonly #known: KnownEndpoints;
  /** When each request that is under way was sent, and the endpoint at which the gate counts it. */
  readonly #sent = new WeakMap<Lease, { readonly at: number; readonly countedAt: string | undefined }>();
  #hasWarned = false;

  constructor(gate: Gate, settings: PacerSettings) {
    this.#gate = gate;
    this.#settings = settings;
    this.#known = new KnownEndpoints(gate, settings.unknown);
  }

  /** The result of `attempt`, for callers that have no other place to go. */
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
    for (let retries = 0; ; retries++) {
      let lease: Lease;
      const askedAt = clock.now();
      try {
        lease = await this.#waiting(call, route, () => this.#acquire(call, route, deadline));
      } catch (error) {
        if (last !== undefined && !call.signal?.aborted) return last;
        throw error;
      }
      const { endpoint } = lease;
      events.emit({ type: "sent", endpoint, model, waitedMs: clock.now() - askedAt, retries });
      last =
        sending.hasSubscribers || sent.hasSubscribers
          ? await this.#tellingOf(call, lease, retries, send)
          : await send(lease);
      const { refusal } = last;
      if (refusal === undefined) return last;
      events.emit({ type: "refused", endpoint, model, refusal: refusal.class, retryAfterMs: refusal.retryAfterMs });
      if (!call.isReplayable) return last;
      // Another endpoint need not wait for what this one asks for, nor lack what this one lacks.
      const others = route.filter((other) => other !== endpoint);
      const [to] = others;
      if (to !== undefined && retries < retry.maxRetries && refusal.class !== "request_too_large") {
        events.emit({ type: "moved", endpoint, model, to, toModel: model });
        route = others;
        continue;
      }
      const delayMs = retryDelayMs(refusal, retries, retry, random());
      if (delayMs === undefined || clock.now() + delayMs >= deadline) return last;
      events.emit({ type: "retrying", endpoint, model, delayMs });
      route = call.route;
      await sleep(clock, delayMs, call.signal);
    }
  }

  /** Tells the gate what an answer says of limits. A gate that fails at that harms nobody. */
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

  /** Ends the lease of a refused request. What waiting does not cure is no reason for all to send less. */
  refuse(lease: Lease, signal: ProviderSignal, status: number | undefined): void {
    if (!isWorthWaiting(signal.class)) {
      lease.done({ tokens: 0, inputTokens: 0, outputTokens: 0 });
      return;
    }
    lease.refused({
      reason: status === undefined ? String(signal.class) : `${status} ${signal.class}`,
      retryAfterMs: signal.cooldownMs ?? signal.retryAfterMs,
      kind: reducesCapacity(signal.class) ? "limit" : "overload",
    });
  }

  /** Ends the lease of an answered request with what it reports; without a report, with the best guess. */
  settle(lease: Lease, call: PacedCall, answer: Answered): void {
    const { estimate, facts, provider } = call;
    const { usage, pieces, isWhole } = answer;
    if (usage === undefined) {
      const { inputTokens } = estimate;
      if (pieces === 0) lease.done();
      else lease.done({ tokens: inputTokens + pieces, inputTokens, outputTokens: pieces });
      return;
    }
    // A stream that was left early has told its input, and little of its output.
    const { output = 0 } = usage;
    const counted = countedUsage(provider, { ...usage, output: isWhole ? output : Math.max(output, pieces) }, facts);
    const { promptTokens, cachedTokens, ...used } = counted;
    lease.done(used);
    const seen = { promptTokens, cachedTokens, outputTokens: isWhole ? used.outputTokens : undefined };
    this.#settings.estimator.learn(provider, facts, seen, call.session);
  }

  /** Renews the lease from time to time while its answer comes. */
  renewal(lease: Lease): () => void {
    let renewedAt = this.#settings.clock.now();
    return () => {
      const now = this.#settings.clock.now();
      if (now - renewedAt < RENEW_MS) return;
      renewedAt = now;
      // Whoever writes a gate without types may well have leases that never expire.
      lease.renew?.();
    };
  }

  /** Tells listeners when the gate does not answer at once. */
  async #waiting<T>({ facts }: PacedCall, route: readonly string[], acquire: () => Promise<T>): Promise<T> {
    const { clock, events } = this.#settings;
    if (!events.isHeard) return acquire();
    const event = { type: "waiting", endpoint: route[0] ?? "", model: facts.model } as const;
    const cancel = clock.after(NOTICED_MS, () => events.emit(event), { background: true });
    try {
      return await acquire();
    } finally {
      cancel();
    }
  }

  /** Sends it, and lets those who listen know before and after. */
  async #tellingOf<T>(
    { facts: { model }, provider }: PacedCall,
    lease: Lease,
    retries: number,
    send: (lease: Lease) => Promise<Sending<T>>,
  ): Promise<Sending<T>> {
    const { clock } = this.#settings;
    const sentAt = clock.now();
    const call = {};
    const what = { resource: lease.endpoint, model, provider, retries, lease, call };
    let run = (): Promise<Sending<T>> => send(lease);
    const within = (around: <R>(send: () => R) => R): void => {
      const inner = run;
      run = () => around(inner);
    };
    sending.publish({ ...what, within });
    const tell = (outcome: SentEvent["outcome"], refusal: string | undefined, error: unknown): void =>
      sent.publish({ ...what, durationMs: clock.now() - sentAt, outcome, refusal, error });
    try {
      const result = await run();
      const refusal = result.refusal?.class;
      tell(refusal === undefined ? "answered" : "refused", refusal, undefined);
      return result;
    } catch (error) {
      tell("failed", undefined, error);
      throw error;
    }
  }

  async #acquire(call: PacedCall, route: readonly string[], deadline: number): Promise<Lease> {
    const { estimate, facts, key, session, priority, signal } = call;
    const { lease, countedAt } = await this.#known.acquire({
      ...(route.length === 1 ? { endpoint: route[0] } : { route }),
      model: facts.model,
      key,
      session,
      priority,
      signal,
      tokens: estimate.tokens,
      inputTokens: estimate.inputTokens,
      outputTokens: estimate.outputTokens,
      timeoutMs: Math.max(0, deadline - this.#settings.clock.now()),
    });
    this.#sent.set(lease, { at: this.#settings.clock.now(), countedAt });
    return lease;
  }
}

/**
 * Whether the limits in an answer are those of its call. Token counting has limits of its own, and at providers that limit
 * models a call without a model says nothing about any.
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
