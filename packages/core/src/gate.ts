import type { AbortSignalLike } from "./abort-signal.ts";

/**
 * Admission control in front of the APIs that a program calls: the program acquires a lease before each call and
 * reports the outcome on the lease. Senders of requests (a limited `fetch`, a middleware) depend only on this interface
 * and not on its implementation.
 */
export interface Gate {
  /**
   * Waits until the request may be sent. A rejected request spends nothing.
   *
   * @throws CAPACITY_EXHAUSTED (time limit, full queue, too large, unavailable), RESOURCE_UNKNOWN, INVALID_CONFIG,
   * LIMITER_CLOSED or the signal's reason, as a rejection
   */
  acquire(request: GateRequest): Promise<Lease>;
  /**
   * Receives the state of the provider's limits from every answer that contains it. A gate that learns adopts limits
   * that were not configured and their changes. A lower remainder than expected is counted as usage of other clients; a
   * remainder above the gate's own restriction ends that restriction early. Must not block. A gate that does not learn
   * omits this method.
   */
  observe?(observation: LimitObservation): void;
}

/**
 * Endpoints to which a call may go. Nested lists are tiers: `[["a", "b"], ["c"]]` uses c only while neither a nor b is
 * available with capacity.
 */
export type GateRoute = readonly (string | readonly string[])[];

/** One call to send: its destination, key, size and time limit. Exactly one of `endpoint` and `route` is given. */
export type GateRequest = RequestDetails &
  (
    | {
        /** Where the call goes. */
        readonly endpoint: string;
        readonly route?: undefined;
      }
    | {
        readonly endpoint?: undefined;
        /** Candidates of which the gate chooses one that is available and has capacity; the lease names it. */
        readonly route: GateRoute;
      }
  );

/** A request, apart from its destination. */
export interface RequestDetails {
  readonly model?: string | undefined;
  /** The API key or tenant that the call is for, where keys have limits of their own. */
  readonly key?: string | undefined;
  /** Estimated usage in tokens. A gate may require the estimate where tokens are limited. */
  readonly tokens?: number | undefined;
  /** The part of the estimate that is input, where input has its own limit. */
  readonly inputTokens?: number | undefined;
  readonly outputTokens?: number | undefined;
  /** Requests of one session stay on one endpoint while it has capacity, for the sake of its prompt cache. */
  readonly session?: string | undefined;
  readonly signal?: AbortSignalLike | undefined;
  /**
   * Ends the wait after this many milliseconds.
   *
   * @defaultValue no time limit
   */
  readonly timeoutMs?: number | undefined;
  /**
   * Each point is worth one second of waiting, so a higher priority goes first.
   *
   * @defaultValue 0
   */
  readonly priority?: number | undefined;
  /**
   * Called once when the request has to wait, with a function that replaces its estimate and keeps its place among the
   * waiting requests. Returns a function that is called when the wait ends. A gate may ignore it.
   */
  readonly whileWaiting?: ((revise: (estimate: UsedTokens) => void) => () => void) | undefined;
}

/**
 * The right to send one request. A lease ends once, by the first of `done`, `cancel`, `refused` and `failed`, or when
 * it expires. Later calls change nothing, including those that a listener makes while the lease ends. An argument that
 * breaks its rule throws INVALID_CONFIG and changes nothing: the lease is still open and must be ended.
 */
export interface Lease extends Disposable {
  readonly endpoint: string;
  readonly model: string | undefined;
  /**
   * Ends the lease of an answered call. `used` corrects the estimate to the actual usage; without `used` the estimate
   * is kept.
   */
  done(used?: UsedTokens): void;
  /**
   * Reports that the provider has begun to answer successfully, which shows that the endpoint works although the answer
   * still streams. Optional before `done`, which reports the same. The lease stays open.
   */
  answered(): void;
  /** Ends the lease of a call that was never sent and returns its whole reservation. */
  cancel(): void;
  /**
   * Ends the lease of a call that the provider refused: its reservation is returned, and the refusal is announced to
   * all agents.
   */
  refused(refusal: Refusal): void;
  /**
   * Ends the lease of a call that failed for another reason than a limit: no connection, a server error, rejected
   * credentials, an unknown model.
   */
  failed(failure: Failure): void;
  /**
   * Extends the lease of a call that is still running. A lease that is not renewed expires, with the effect of
   * `done()`.
   */
  renew(): void;
}

/** Amounts of tokens: the actual usage of a call, or a revised estimate. */
export interface UsedTokens {
  readonly tokens?: number | undefined;
  readonly inputTokens?: number | undefined;
  readonly outputTokens?: number | undefined;
}

/** The refusal of a call by its provider. */
export interface Refusal {
  /** The reason as text for display: "429 rate_limit_error". */
  readonly reason: string;
  /** The delay in milliseconds that the provider asks for: a finite number of 0 or more. */
  readonly retryAfterMs?: number | undefined;
  /**
   * - `limit`: the swarm sends too much and cuts back.
   * - `overload`: the provider is in trouble; frequent overloads make the swarm pause, and nothing is cut.
   * - `quota`: the quota of a long window is spent; no call is sent until the quota is restored.
   *
   * @defaultValue "limit"
   */
  readonly kind?: "limit" | "overload" | "quota" | undefined;
  /**
   * The subject of an overload or a spent quota.
   *
   * @defaultValue the model of the call, or the endpoint for a call without a model
   */
  readonly concerns?: "model" | "endpoint" | undefined;
}

/** The failure of a call that the provider did not refuse. */
export interface Failure {
  /** The reason as text for display: "ECONNREFUSED", "500". */
  readonly reason: string;
  /**
   * The part that is broken.
   *
   * @defaultValue the model of the call, or the endpoint for a call without a model
   */
  readonly concerns?: "model" | "endpoint" | undefined;
  /**
   * Whether the call left this process. The reservation of a call that was not sent is returned.
   *
   * @defaultValue true
   */
  readonly wasSent?: boolean | undefined;
  /**
   * Whether the caller aborted the call, which implies nothing about the endpoint.
   *
   * @defaultValue false
   */
  readonly byCaller?: boolean | undefined;
  /**
   * The usage of the failed call.
   *
   * @defaultValue the estimate
   */
  readonly used?: UsedTokens | undefined;
}

/** The quantities that providers limit, named as in their headers. */
export type LimitDimension = "requests" | "tokens" | "input_tokens" | "output_tokens";

/** The state of a provider's limits as its answer gave it. */
export interface LimitObservation {
  readonly endpoint: string;
  /**
   * The model to which the limits apply; absent for limits of the endpoint. A gate must not change the limits of
   * another model.
   */
  readonly model?: string | undefined;
  /**
   * Time since the request was sent, in milliseconds; the observed state may be that old.
   *
   * @defaultValue 0
   */
  readonly sentAgoMs?: number | undefined;
  readonly limits: { readonly [D in LimitDimension]?: ObservedLimit | undefined };
}

/** The state of one limit in an answer. Fields that the answer did not contain are absent. */
export interface ObservedLimit {
  /** The limit per `windowMs`. */
  readonly limit?: number | undefined;
  /** The remaining amount at present. */
  readonly remaining?: number | undefined;
  /** Time in milliseconds until the limit is fully restored. */
  readonly resetMs?: number | undefined;
  readonly windowMs?: number | undefined;
}
