import type { Clock } from "../clock.ts";

/** What other threads of the process need to count with us: `new RateManager({ shared: handle })` there. Opaque. */
export interface SharedHandle {
  readonly hivepace: "rate-manager";
}

/** Options of a `RateManager`; all have defaults. */
export interface RateManagerOptions {
  /** How long a window is. Default: 60,000, a minute, to which requests and tokens "per minute" then refer. */
  windowMs?: number | undefined;
  /**
   * "fixed" windows, as most providers have them, or "sliding": the window before counts as well, by the part of it that
   * is less than `windowMs` ago. A fixed window lets twice the limit pass around its edge. Default: "fixed".
   */
  window?: "fixed" | "sliding" | undefined;
  /** An endpoint with a higher `tpmLimit` than this is counted and not limited. Default: none is. */
  mockEndpointTpmThreshold?: number | undefined;
  /**
   * The limits of a key for which none were set; undefined if it has none. What is made so is forgotten again when it is
   * idle, so that keys may come and go by the million: for the same key, give the same limits.
   */
  limitsForKey?: ((key: string) => KeyLimits | undefined) | undefined;
  clock?: Clock | undefined;
  /** Whether its decisions are events for `diagnostics_channel`. Default: true; a hive, say, tells of them itself. */
  diagnostics?: boolean | undefined;
  /** Counts together with the manager that this comes from; the window and its length come from there, too. */
  shared?: SharedHandle | undefined;
}

/** Limits of an endpoint, or of one of its models. An absent limit is none; 0 lets nothing through. */
export interface EndpointLimits {
  /** Requests in each window. Below 1 they are one in several windows: 0.5 is one in two. 0 lets nothing through. */
  readonly rpmLimit?: number | undefined;
  /** Tokens in each window, with the same meaning of fractions and 0. */
  readonly tpmLimit?: number | undefined;
  readonly inputTpmLimit?: number | undefined;
  readonly outputTpmLimit?: number | undefined;
  /** Requests that were allowed and have been neither settled nor cancelled. */
  readonly maxInFlight?: number | undefined;
}

/** An endpoint with its limits, or some of its models with theirs. */
export interface EndpointConfig extends EndpointLimits {
  readonly id: string;
  /** These limits are for this model only. Without: for all models that have no limits of their own. */
  readonly model?: string | undefined;
  /** These models draw from one pool. */
  readonly models?: readonly string[] | undefined;
}

/** Limits of an API key, in addition to those of the endpoint. */
export interface KeyLimits {
  readonly rateLimitRpm?: number | undefined;
  readonly rateLimitTpm?: number | undefined;
}

/** Whose limits are asked: an endpoint's, of a model, and a key's. */
export interface RateTarget {
  readonly endpoint: string;
  readonly model?: string | undefined;
  readonly key?: string | undefined;
}

/** A request that is to be counted, with the tokens that it may use. */
export interface RateRequest extends RateTarget {
  /** All tokens that it may use. */
  readonly tokens: number;
  /** Those of them that are input, where that has its own limit. Default: `tokens` without `outputTokens`. */
  readonly inputTokens?: number | undefined;
  /** Those of them that are output. Default: `tokens` without `inputTokens`. */
  readonly outputTokens?: number | undefined;
}

/** Which limit denied a request: whose it is, and what it limits. */
export type LimitedBy =
  | "key-rpm"
  | "key-tpm"
  | "endpoint-rpm"
  | "endpoint-tpm"
  | "endpoint-input-tpm"
  | "endpoint-output-tpm"
  | "endpoint-in-flight"
  /** What all agents have used of the endpoint, or its part of that, where it is shared with others. */
  | "swarm-rpm"
  | "swarm-tpm"
  | "swarm-input-tpm"
  | "swarm-output-tpm"
  /** All agents pause: the provider refused. */
  | "swarm-pause";

/** Whether a request may be sent, and how full the limits are. One shape: every field is always there. */
export interface RateDecision {
  readonly allowed: boolean;
  /** Of the level that denied (key or endpoint), else of the endpoint; after this request when it was counted. */
  readonly currentTpm: number;
  /** Infinity when there is none. */
  readonly limitTpm: number;
  readonly currentRpm: number;
  readonly limitRpm: number;
  /** 0..1, of the tightest limit of all that were asked. */
  readonly utilization: number;
  /** In milliseconds since 1970. */
  readonly windowStart: number;
  /** When denied: after this long it would be allowed, if nothing else came. Undefined when time alone does not help. */
  readonly retryAfterMs: number | undefined;
  readonly limitedBy: LimitedBy | undefined;
  /** Why it was denied: "rate", wait; "too-large", it will never be allowed; "in-flight", others must end first. */
  readonly reason: "rate" | "too-large" | "in-flight" | undefined;
}

/** The same decision without look-ups. */
export interface RateHandle {
  check(tokens: number, inputTokens?: number, outputTokens?: number): RateDecision;
}

/** What was counted of an endpoint, or of one of its models, with its limits. */
export interface EndpointCount extends Required<{ readonly [L in keyof EndpointLimits]: number }> {
  readonly id: string;
  readonly model: string | undefined;
  /** Of a pool, all its models; `model` is the one that names it. */
  readonly models: readonly string[] | undefined;
  readonly requests: number;
  readonly tokens: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** 0 when `maxInFlight` is not set: nobody counts then. */
  readonly inFlight: number;
}

/** What was counted of a key, with its limits. */
export interface KeyCount {
  readonly id: string;
  readonly requests: number;
  readonly tokens: number;
  readonly rateLimitRpm: number;
  readonly rateLimitTpm: number;
}

/** What was counted in the present window. Absent limits are Infinity. */
export interface RateSnapshot {
  readonly windowStart: number;
  readonly windowMs: number;
  /** How long until the next window begins. */
  readonly remainingMs: number;
  readonly endpoints: readonly EndpointCount[];
  /** Only those that were used in this window: there may be a million. */
  readonly keys: readonly KeyCount[];
}
