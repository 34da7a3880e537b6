import type { Clock } from "../clock.ts";

/**
 * An opaque handle with which other threads of the process count together: pass it there to `new RateManager({ shared
 * })`.
 */
export interface SharedHandle {
  readonly hivepace: "rate-manager";
}

/** Options of a `RateManager`; all have defaults. */
export interface RateManagerOptions {
  /**
   * Length of a window in milliseconds. Requests and tokens "per minute" refer to windows of this length.
   *
   * @defaultValue 60,000
   */
  windowMs?: number | undefined;
  /**
   * "fixed" windows, as most providers have them, or "sliding" windows, which also count the part of the previous
   * window that is less than `windowMs` ago. A fixed window lets up to twice the limit pass around its edge.
   *
   * @defaultValue "fixed"
   */
  window?: "fixed" | "sliding" | undefined;
  /**
   * An endpoint whose `tpmLimit` is above this threshold is counted and not limited.
   *
   * @defaultValue no threshold
   */
  mockEndpointTpmThreshold?: number | undefined;
  /**
   * Returns the limits of a key for which `setKey` was not called, or undefined if the key has none. A key created this
   * way is forgotten when it is idle, so that millions of keys may come and go; the function must return the same
   * limits for the same key.
   */
  limitsForKey?: ((key: string) => KeyLimits | undefined) | undefined;
  clock?: Clock | undefined;
  /**
   * Whether decisions are published on `diagnostics_channel`. A hive disables this and publishes them itself.
   *
   * @defaultValue true
   */
  diagnostics?: boolean | undefined;
  /**
   * The result of `share()` of another manager, with which this one counts together. The kind and length of the windows
   * are taken from there.
   */
  shared?: SharedHandle | undefined;
}

/** Limits of an endpoint or of one of its models. An absent limit does not limit; 0 allows no request. */
export interface EndpointLimits {
  /** Requests per window. A fraction means one request in several windows: 0.5 is one in two. 0 allows no request. */
  readonly rpmLimit?: number | undefined;
  /** Tokens per window; fractions and 0 have the same meaning as for requests. */
  readonly tpmLimit?: number | undefined;
  readonly inputTpmLimit?: number | undefined;
  readonly outputTpmLimit?: number | undefined;
  /** Maximum number of requests of this process in flight: allowed, and neither settled nor cancelled. */
  readonly maxInFlightPerProcess?: number | undefined;
}

/** An endpoint, or some of its models, with limits. */
export interface EndpointConfig extends EndpointLimits {
  readonly id: string;
  /** The only model to which these limits apply; absent for all models that have no limits of their own. */
  readonly model?: string | undefined;
  /** Models that share these limits as one pool. */
  readonly models?: readonly string[] | undefined;
}

/** Limits of an API key, in addition to those of the endpoint. */
export interface KeyLimits {
  readonly rpmLimit?: number | undefined;
  readonly tpmLimit?: number | undefined;
}

/** The endpoint, model and key whose limits apply to a request. */
export interface RateTarget {
  readonly endpoint: string;
  readonly model?: string | undefined;
  readonly key?: string | undefined;
}

/** A request to decide on and count, with its estimated tokens. */
export interface RateRequest extends RateTarget {
  /** The estimated number of all tokens. */
  readonly tokens: number;
  /**
   * The part of `tokens` that is input, where input has its own limit.
   *
   * @defaultValue `tokens` minus `outputTokens`
   */
  readonly inputTokens?: number | undefined;
  /**
   * The part of `tokens` that is output, where output has its own limit.
   *
   * @defaultValue `tokens` minus `inputTokens`
   */
  readonly outputTokens?: number | undefined;
}

/** The limit that denied a request: its owner and the limited quantity. */
export type LimitedBy =
  | "key-rpm"
  | "key-tpm"
  | "endpoint-rpm"
  | "endpoint-tpm"
  | "endpoint-input-tpm"
  | "endpoint-output-tpm"
  | "endpoint-in-flight"
  | "key-in-flight"
  /** The endpoint's limit for all agents together, or this agent's share of it while other agents contend for it. */
  | "swarm-rpm"
  | "swarm-tpm"
  | "swarm-input-tpm"
  | "swarm-output-tpm"
  /** The number of calls of all agents in flight has reached its limit. */
  | "swarm-in-flight"
  /** All agents pause after a refusal by the provider. */
  | "swarm-pause"
  /** This process was paused by `hive.pause()`. */
  | "paused"
  /** The endpoint, or the model, is overloaded, broken or parked. */
  | "unavailable";

/** Whether a request may be sent, and the utilization of its limits. All fields are always present. */
export interface RateDecision {
  readonly allowed: boolean;
  /**
   * Count of the key or endpoint that denied the request, otherwise of the endpoint; includes this request if it was
   * counted.
   */
  readonly currentTpm: number;
  /** The limit of these tokens; Infinity without a limit. */
  readonly limitTpm: number;
  readonly currentRpm: number;
  readonly limitRpm: number;
  /** Utilization, 0 to 1, of the tightest limit that applies to the request. */
  readonly utilization: number;
  /** The start of the window, in milliseconds since 1970. */
  readonly windowStart: number;
  /**
   * Time in milliseconds after which a denied request would be allowed if no other request were counted; undefined when
   * time alone does not help.
   */
  readonly retryAfterMs: number | undefined;
  readonly limitedBy: LimitedBy | undefined;
  /**
   * Why the request was denied:
   *
   * - `rate`: the limit is reached for now; the request fits later.
   * - `too-large`: no window can ever hold the request.
   * - `in-flight`: other requests must end first.
   * - `unavailable`: the endpoint does not work at present.
   */
  readonly reason: "rate" | "too-large" | "in-flight" | "unavailable" | undefined;
}

/** Decides as `RateManager.check` does, for ids that were looked up once. */
export interface RateHandle {
  check(tokens: number, inputTokens?: number, outputTokens?: number): RateDecision;
}

/** The counts of an endpoint or one of its models, with its limits. */
export interface EndpointCount extends Required<{ readonly [L in keyof EndpointLimits]: number }> {
  readonly id: string;
  readonly model: string | undefined;
  /** All models of a pool, of which `model` gives the pool its name. */
  readonly models: readonly string[] | undefined;
  readonly requests: number;
  readonly tokens: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Requests in flight; 0 when `maxInFlightPerProcess` is not set, because they are not counted then. */
  readonly inFlight: number;
}

/** The counts of a key, with its limits. */
export interface KeyCount {
  readonly id: string;
  readonly requests: number;
  readonly tokens: number;
  readonly rpmLimit: number;
  readonly tpmLimit: number;
}

/** The counts of the present window. Absent limits are Infinity. */
export interface RateSnapshot {
  readonly windowStart: number;
  readonly windowMs: number;
  /** Time in milliseconds until the next window begins. */
  readonly remainingMs: number;
  readonly endpoints: readonly EndpointCount[];
  /** Keys that were used in this window; the others are left out, because there may be a million. */
  readonly keys: readonly KeyCount[];
}
