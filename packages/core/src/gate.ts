import type { AbortSignalLike } from "./abort-signal.ts";

/**
 * What stands between a program and the APIs that it calls: ask before each call, and say afterwards what became of it.
 * Whoever sends requests (a limited `fetch`, a middleware) depends on this alone, not on who decides.
 */
export interface Gate {
  /**
   * Waits until the request may be sent. Rejects with CAPACITY_EXHAUSTED (time-out, full queue, too large),
   * RESOURCE_UNKNOWN, INVALID_CONFIG, LIMITER_CLOSED or the signal's reason; then nothing is spent.
   */
  acquire(request: GateRequest): Promise<Lease>;
  /**
   * What the provider says about its limits in its answers, of every one that says something. A gate that learns takes
   * from here the limits that nobody gave it, and their changes; less left than it thinks is the use of others, and lowers
   * the room; room where it holds back ends that early. Must not wait. A gate that does not learn has none.
   */
  observe?(observation: LimitObservation): void;
}

/** One call that is to be sent: where to, for whom, how large, and how long it may wait. */
export interface GateRequest {
  /** Where to send it; or `route`. */
  readonly endpoint?: string | undefined;
  /** One of these, whichever has room: see the lease for which. */
  readonly route?: readonly string[] | undefined;
  readonly model?: string | undefined;
  /** The API key or tenant for whom it is, where these have limits of their own. */
  readonly key?: string | undefined;
  /** What it will use, as far as one can tell before. A gate may insist on it where tokens are limited. */
  readonly tokens?: number | undefined;
  /** Those of them that are input, where that has its own limit. */
  readonly inputTokens?: number | undefined;
  readonly outputTokens?: number | undefined;
  /** Requests of one session stay on one endpoint while it has room, for the sake of its prompt cache. */
  readonly session?: string | undefined;
  readonly signal?: AbortSignalLike | undefined;
  /** Gives up the wait after this long. Default: never. */
  readonly timeoutMs?: number | undefined;
  /** Each point is worth one second of waiting. Default: 0. */
  readonly priority?: number | undefined;
}

/**
 * The right to send one request. A lease ends once, by the first of `done`, `cancel` and `refused`, or when it expires; later
 * calls change nothing, also those that a listener makes while the lease ends. An argument that breaks its rule throws
 * INVALID_CONFIG and changes nothing: the lease is still open and has to be ended.
 */
export interface Lease extends Disposable {
  readonly endpoint: string;
  readonly model: string | undefined;
  /** It was answered. `used` corrects the estimate to what it really took; without, the estimate stands. */
  done(used?: UsedTokens): void;
  /** It was never sent: all is given back. */
  cancel(): void;
  /** The provider refused it: what it was to use is given back, and all agents hear of it. */
  refused(refusal: Refusal): void;
  /** It is still running: a lease that nobody renews ends by itself as if done. */
  renew(): void;
}

/** What a call really used. */
export interface UsedTokens {
  readonly tokens?: number | undefined;
  readonly inputTokens?: number | undefined;
  readonly outputTokens?: number | undefined;
}

/** What a provider said when it refused a call. */
export interface Refusal {
  /** For people: "429 rate_limit_error". */
  readonly reason: string;
  /** How long the provider asks to wait: a finite number of 0 or more. */
  readonly retryAfterMs?: number | undefined;
  /** "limit": we send too much, cut back (default). "overload": the provider is in trouble, pause and do not cut. */
  readonly kind?: "limit" | "overload" | undefined;
}

/** What providers limit, in the words of their headers. */
export type LimitDimension = "requests" | "tokens" | "input_tokens" | "output_tokens";

/** The state of a provider's limits as its answer gave it. */
export interface LimitObservation {
  readonly endpoint: string;
  /**
   * The model whose limits these are. A gate must not change the limits of another model by them. Absent: the limits are
   * those of the endpoint.
   */
  readonly model?: string | undefined;
  /** How long ago the request was sent: an answer may speak of that time. Default: just now. */
  readonly sentAgoMs?: number | undefined;
  readonly limits: { readonly [D in LimitDimension]?: ObservedLimit | undefined };
}

/** One limit as an answer shows it. What is absent was not said. */
export interface ObservedLimit {
  /** In each `windowMs`. */
  readonly limit?: number | undefined;
  /** What is left of it now. */
  readonly remaining?: number | undefined;
  /** Until it is whole again. */
  readonly resetMs?: number | undefined;
  readonly windowMs?: number | undefined;
}
