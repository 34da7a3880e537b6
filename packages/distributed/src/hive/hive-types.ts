import type { MessageBus } from "@hivepace/bus";
import type {
  AbortSignalLike,
  AvailabilityState,
  CapacityUpdate,
  EndpointConfig,
  Gate,
  GateRequest,
  KeyLimits,
  Lease,
  LimitedBy,
  LimitObservation,
  RateDecision,
  ReducedDetails,
  Refusal,
  SyncStore,
} from "@hivepace/core";
import type { GlobalUsage, GlobalViewStatus } from "../global-view/view-types.ts";
import type { SwarmOptions } from "../limiter/config.ts";
import type { LevelCause, SlotStatus, SwarmStatus } from "../limiter/distributed-limiter.ts";
import type { SlotLimit } from "../limiter/slot-config.ts";
import type { RouteRequest, RoutingDecision, RoutingStrategy } from "../router/router-types.ts";

/** An endpoint of a hive, with its limits per window and its limit on calls under way. */
export interface HiveEndpoint extends EndpointConfig {
  /**
   * Maximum number of calls of all agents together that are under way at a time, from lease to end of lease.
   *
   * @defaultValue no limit
   */
  readonly maxInFlight?: SlotLimit | undefined;
  /**
   * Largest amounts that all agents together may use at once, for a provider whose token bucket is smaller than a minute's
   * limit: no more than the burst in the time in which the limit refills it. Each requires the limit of its dimension.
   *
   * @defaultValue the limits: a window may be used up at once
   *
   * @example
   * ```ts
   * import type { HiveEndpoint } from "@hivepace/distributed";
   *
   * // 600 requests a minute, of which at most 20 at once.
   * export const endpoint: HiveEndpoint = { id: "api", rpmLimit: 600, burst: { requests: 20 } };
   * ```
   */
  readonly burst?: { readonly [D in HiveDimension]?: number | undefined } | undefined;
  /**
   * Limits over windows other than `windowMs` of the hive, all shared by all agents. With shorter windows, calls are spread
   * within the minute. Calls larger than such a limit are rejected.
   *
   * @defaultValue none: shorter windows are learned from refusals
   *
   * @example
   * ```ts
   * import type { HiveEndpoint } from "@hivepace/distributed";
   *
   * // 600 requests a minute, enforced as 10 in each second.
   * export const endpoint: HiveEndpoint = {
   *   id: "api",
   *   rpmLimit: 600,
   *   limits: [{ dimension: "requests", limit: 10, windowMs: 1_000 }],
   * };
   * ```
   */
  readonly limits?: readonly WindowLimit[] | undefined;
}

/** A limit over a window of its own. */
export interface WindowLimit {
  /** The unit of the limit. */
  readonly dimension: HiveDimension;
  /** Largest amount in any window; above 0. */
  readonly limit: number;
  /** Length of the window in milliseconds. */
  readonly windowMs: number;
}

/** Limits of a tenant key, shared by all agents. */
export interface HiveKeyLimits extends KeyLimits {
  /**
   * Maximum number of calls of all agents together that are under way for the key at a time, over all endpoints.
   *
   * @defaultValue no limit
   */
  readonly maxInFlight?: SlotLimit | undefined;
}

/**
 * Options of `createHive`: endpoints and keys with their limits, the bus and store that share them, and the behaviour.
 */
export interface HiveOptions extends SwarmOptions {
  /**
   * The endpoints, with their limits per window. Absent limits are learned from the provider's answers; until then
   * there is none.
   */
  endpoints: readonly HiveEndpoint[];
  /**
   * Limits of API keys or tenants, in addition to those of the endpoints. All agents share them in the same way.
   *
   * @defaultValue no limits
   */
  keys?: Readonly<Record<string, HiveKeyLimits>> | undefined;
  /**
   * Returns the limits of a key that is not among `keys`; undefined for no limits. Shared in the same way. Called when
   * a key comes into use.
   *
   * @defaultValue no limits
   */
  limitsForKey?: ((key: string) => HiveKeyLimits | undefined) | undefined;
  /**
   * The bus over which all agents agree. The hive closes a bus that it receives as a promise; a bus passed directly
   * stays open.
   *
   * @defaultValue none: this agent is alone, unless `sync` shares the limits
   */
  bus?: MessageBus | PromiseLike<MessageBus> | undefined;
  /**
   * The store of the global view, which can also allocate limits, see `aggregation`. The hive closes a store that it
   * receives as a promise; a store passed directly stays open.
   *
   * @defaultValue none: there is no global view
   */
  sync?: SyncStore | PromiseLike<SyncStore> | undefined;
  /**
   * Namespace of the swarm. Messages of agents in other namespaces are not received.
   *
   * @defaultValue the result of `resolveNamespace()` of `@hivepace/namespace`
   */
  namespace?: string | undefined;
  /**
   * Id of this agent, unique in the swarm. A process that restarts should have the same id again: peers then know at
   * once that the previous process has ended, and hold nothing free for it.
   *
   * @defaultValue the first of the environment variables AGENT_ID, POD_NAME, CONTAINER_APP_REPLICA_NAME, FLY_MACHINE_ID,
   * RAILWAY_REPLICA_ID, RENDER_INSTANCE_ID, NOMAD_ALLOC_ID and HOSTNAME that is set, else the name of the host and a
   * hash of user and program; for further hives on the same machine followed by "-2", "-3" and so on. Where the machine
   * has no name, or its temporary folder cannot be written, a random part follows
   */
  agentId?: string | undefined;
  /**
   * "enforce" delays and denies requests. "observe" decides and reports, but never delays a request.
   *
   * @defaultValue "enforce"
   */
  mode?: "enforce" | "observe" | undefined;
  /**
   * Length of the window of `rpmLimit`, `tpmLimit` and other limits per minute, in milliseconds.
   *
   * @defaultValue 60,000
   */
  windowMs?: number | undefined;
  /**
   * Time after which a lease that is neither ended nor renewed ends by itself, as if done, in milliseconds.
   *
   * @defaultValue 900,000 (15 minutes)
   */
  leaseMs?: number | undefined;
  /**
   * Strategy that chooses among the available endpoints of a route.
   *
   * @defaultValue "least-used"
   */
  strategy?: RoutingStrategy | undefined;
  /**
   * Relative frequency of each endpoint, for the strategy "weighted".
   *
   * @defaultValue 1 for each endpoint that is not named
   */
  weights?: Readonly<Record<string, number>> | undefined;
  /**
   * Returns the provider's refusal that an error thrown by the work of `run` represents; undefined for any other error.
   *
   * @defaultValue by the HTTP status of the error: 429 is a rate limit, 503 and 529 are an overload
   */
  refusalOf?: ((error: unknown) => Refusal | undefined) | undefined;
  /**
   * An endpoint whose `tpmLimit` exceeds this number is counted and not limited.
   *
   * @defaultValue none: every endpoint is limited
   */
  mockEndpointTpmThreshold?: number | undefined;
}

/**
 * A request to send one call. Exactly one of `endpoint` and `route` is required. Where an endpoint or the key is
 * configured with a limit of tokens, `tokens` (or its parts, `inputTokens` and `outputTokens`) is required too: without
 * an estimate the call would evade the limit. Everything else has a default.
 */
export type HiveRequest = GateRequest;

/**
 * A request that may be sent. An observing hive grants every request; `limitedBy` and `reason` then contain the
 * decision that an enforcing hive would make.
 */
export interface HiveGrant extends RateDecision {
  readonly allowed: true;
  /** The endpoint to which the call must be sent. */
  readonly endpoint: string;
  /** Lease of the call. The caller must end it, whatever the outcome of the call. */
  readonly lease: Lease;
}

/** A request that may not be sent now. */
export interface HiveDenial extends RateDecision {
  readonly allowed: false;
  /** The candidate that is expected to have capacity first. */
  readonly endpoint: string;
  readonly lease: undefined;
}

/** Result of `tryAcquire`. When `allowed` is true, `lease` is set. */
export type HiveDecision = HiveGrant | HiveDenial;

/** Options of `hive.ready()`. */
export interface ReadyOptions {
  /** Signal that ends the wait. */
  readonly signal?: AbortSignalLike | undefined;
}

/** Options of `hive.park()`. */
export interface ParkOptions {
  /**
   * The model to park.
   *
   * @defaultValue the endpoint with all its models
   */
  readonly model?: string | undefined;
  /**
   * Duration in milliseconds.
   *
   * @defaultValue until `unpark`
   */
  readonly forMs?: number | undefined;
  /** Reason for the park, shown in denials, events and status. */
  readonly reason: string;
}

/** Availability of an endpoint, or of one of its models. */
export interface EndpointAvailability {
  /**
   * - `available`: calls may be sent
   * - `overloaded`: all agents pause for a moment
   * - `broken`: the circuit breaker is open
   * - `parked`: a quota is used up, or an operator has parked the endpoint
   */
  readonly state: AvailabilityState;
  /** The model concerned; undefined for the whole endpoint. */
  readonly model: string | undefined;
  /** Reason for the state; undefined while the endpoint is available. */
  readonly reason: string | undefined;
  /** The agent that detected the state, or the operator who decided it. */
  readonly agentId: string | undefined;
  /** Time since the endpoint became unavailable, in milliseconds. */
  readonly sinceMs: number | undefined;
  /** Time until the next call may be sent, in milliseconds; 0 for now, undefined when unknown. */
  readonly retryAfterMs: number | undefined;
  /** True while one call probes whether the endpoint works again. */
  readonly isProbing: boolean;
  /** True when the endpoint works for other agents but not for this one. */
  readonly isLocal: boolean;
}

/** Details of a refusal, and the model concerned. */
export interface HiveReducedDetails extends ReducedDetails {
  /**
   * The model that the refusal concerns.
   *
   * @defaultValue the endpoint with all its models
   */
  readonly model?: string | undefined;
}

/**
 * Changes of a running hive. An omitted option stays unchanged. Endpoints and keys missing from a given list are
 * removed.
 */
export interface HiveChanges {
  /**
   * All endpoints from now on.
   *
   * @defaultValue unchanged
   */
  readonly endpoints?: readonly HiveEndpoint[] | undefined;
  /**
   * All limits of keys from now on.
   *
   * @defaultValue unchanged
   */
  readonly keys?: Readonly<Record<string, HiveKeyLimits>> | undefined;
}

/** Endpoints, keys, leases and routing, within limits that all agents share. */
export interface Hive extends Gate, AsyncDisposable {
  /** Id of this agent. */
  readonly agentId: string;
  /** The configured mode. */
  readonly mode: "enforce" | "observe";
  acquire(request: HiveRequest): Promise<Lease>;
  /**
   * Decides at once, without waiting. A request never overtakes a waiting one.
   *
   * @throws INVALID_CONFIG for an invalid request, RESOURCE_UNKNOWN, or LIMITER_CLOSED
   *
   * @example
   * ```ts
   * import type { Hive } from "@hivepace/distributed";
   *
   * export async function sendIfFree(hive: Hive, send: () => Promise<void>): Promise<number | undefined> {
   *   const decision = hive.tryAcquire({ endpoint: "openai", tokens: 500 });
   *   if (!decision.allowed) return decision.retryAfterMs;
   *   using _lease = decision.lease; // ends the lease when the block ends
   *   await send();
   *   return undefined;
   * }
   * ```
   */
  tryAcquire(request: HiveRequest): HiveDecision;
  /**
   * Waits until the request may be sent, runs `work`, and ends the lease by its outcome:
   * - `work` succeeds: done. The usage is the one that the result contains in a usual shape (`usage.total_tokens`,
   *   `usage.input_tokens` and the like), or that `work` itself reported by `lease.done(…)`; otherwise the estimate
   *   stands.
   * - `work` fails by a refusal of the provider (429, 503, 529, or as defined by `refusalOf`): refused, and all agents
   *   slow down.
   * - `work` fails otherwise: the estimate stays charged, because the provider may have counted the call.
   *
   * The lease is renewed while `work` runs.
   *
   * @returns the result of `work`
   * @throws the error of `work`, or the error of `acquire`
   * @example
   * ```ts
   * import type { Hive } from "@hivepace/distributed";
   *
   * export const ask = (hive: Hive, send: () => Promise<{ usage: { total_tokens: number } }>) =>
   *   hive.run({ endpoint: "openai", tokens: 500 }, send);
   * ```
   */
  run<T>(request: HiveRequest, work: (lease: Lease) => T | PromiseLike<T>): Promise<T>;
  /**
   * Resolves when this agent has joined the swarm and may send, or has found itself alone or isolated. Earlier requests
   * wait on their own, so only measurements and health checks need `ready`.
   *
   * @throws LIMITER_CLOSED, or the signal's reason
   */
  ready(options?: ReadyOptions): Promise<void>;
  /** Returns the routing decision for a request now. Counts nothing. */
  route(request: RouteRequest): RoutingDecision;
  /**
   * Reports a refusal (429) by the provider, which cuts the capacity of all agents. Calls with a lease report refusals
   * by `lease.refused` instead.
   */
  announceReduced(endpoint: string, reason: string, details?: HiveReducedDetails): void;
  observe(observation: LimitObservation): void;
  /**
   * Closes an endpoint, or one of its models, for all agents. Calls go to other candidates of their routes, wait, or
   * reject with CAPACITY_EXHAUSTED. Without a secret on the bus, other agents honour a park for one window at a time;
   * this agent repeats it.
   *
   * @throws INVALID_CONFIG, or RESOURCE_UNKNOWN for an endpoint that the hive does not have
   *
   * @example
   * ```ts
   * import type { Hive } from "@hivepace/distributed";
   *
   * export function maintenance(hive: Hive): void {
   *   hive.park("eu", { forMs: 15 * 60_000, reason: "maintenance" });
   * }
   * ```
   */
  park(endpoint: string, options: ParkOptions): void;
  /** Opens a closed endpoint with all its models, or one closed model, whatever the reason for the closure. */
  unpark(endpoint: string, options?: Pick<ParkOptions, "model">): void;
  /**
   * Explains why calls to an endpoint wait: which limit is full, who cut it and why, and when capacity becomes free.
   * With `model`, the explanation includes the limits that answers have shown for this model.
   */
  explain(endpoint: string, model?: string): HiveExplanation;
  /** Returns the present state of the hive, for display and metrics. */
  status(): HiveStatus;
  /** Registers a listener for changes of capacity. Returns a function that removes the listener. */
  onCapacityChange(listener: (update: CapacityUpdate) => void): () => void;
  /**
   * Applies new endpoints or keys to a running hive. Usage stays counted.
   *
   * @throws INVALID_CONFIG for any mistake, and then nothing is changed
   */
  reconfigure(changes: HiveChanges): void;
  /**
   * Adds an endpoint or one of its models, or changes its limits. All other endpoints stay unchanged.
   *
   * @throws INVALID_CONFIG, and then nothing is changed
   */
  addEndpoint(endpoint: HiveEndpoint): void;
  /**
   * Removes an endpoint with all its models, or one model of it. Calls without another candidate are rejected with
   * RESOURCE_UNKNOWN; calls under way end as usual.
   *
   * @returns false when the endpoint or model was unknown
   */
  removeEndpoint(id: string, model?: string): boolean;
  /**
   * Stops granting requests in this process until `resume`. Requests wait and claim no capacity meanwhile. Other agents
   * are not affected.
   */
  pause(): void;
  /** Ends a `pause`. */
  resume(): void;
  /** True between `pause` and `resume`. */
  readonly isPaused: boolean;
  /**
   * Rejects all waiting requests, gives calls under way `drainMs` to end, and announces the departure, so that the
   * other agents have this agent's share at once. May be called again.
   */
  close(options?: { readonly drainMs?: number | undefined }): Promise<void>;
}

/** The units that an endpoint can limit. */
export type HiveDimension = "requests" | "tokens" | "inputTokens" | "outputTokens";

/** One limit of an endpoint. */
export interface HiveLimit {
  /** The unit of the limit. */
  readonly dimension: HiveDimension;
  /** Window of the limit in milliseconds. */
  readonly windowMs: number;
  /** The effective limit, configured or learned: the smallest of all live agents. */
  readonly limit: number;
  /** True when the limit comes from answers or refusals of the provider, not from the configuration. */
  readonly isLearned: boolean;
  /** Amount that all agents together may use in a window now: the limit × its level. */
  readonly total: number;
  /** Usage of all agents in the last window, as far as this agent knows (`used`), and of this agent (`usedHere`). */
  readonly used: number;
  readonly usedHere: number;
  /** This agent's fair share of the total: zero while it joins, reduced while it is isolated. */
  readonly share: number;
}

/** Explanation of why calls to an endpoint wait, or why they do not: for people, dashboards and tests. */
export interface HiveExplanation {
  /** The endpoint's id. */
  readonly endpoint: string;
  /** The model; undefined for the endpoint as a whole. */
  readonly model: string | undefined;
  /** The explanation as readable text. */
  readonly text: string;
  /** The limits of the endpoint, configured and learned. */
  readonly limits: readonly HiveLimit[];
  /** Fraction of the limits that is left after cuts, 0 to 1, and the cause of the latest cut. */
  readonly level: number;
  readonly cause: LevelCause | undefined;
  /** Remaining pause of all agents, in milliseconds; 0 when none is running. */
  readonly pausedForMs: number;
  /** Availability of the endpoint. */
  readonly availability: EndpointAvailability;
  /** Number of requests that wait in this process. */
  readonly waiting: number;
  /** Number of calls of this process under way. */
  readonly inFlight: number;
  /** Calls of all agents that are under way; undefined without `maxInFlight`. */
  readonly slots: SlotStatus | undefined;
  /**
   * Time until a request of one token could be sent; 0 for now, Infinity when time alone does not help: the limit is 0,
   * or a call in flight of this process must end first. For `maxInFlight` an estimate by the typical call.
   */
  readonly freesInMs: number;
  /**
   * The limit that denies such a request, as in the result of a denied `tryAcquire`; undefined when there is capacity.
   */
  readonly limitedBy: LimitedBy | undefined;
  /** Usage of all instances, from the store; undefined without a store. */
  readonly global: GlobalUsage | undefined;
  /**
   * Decisions that enforcing would have made for the endpoint's requests, over all models; undefined unless `mode` is
   * "observe".
   */
  readonly observed: Observed | undefined;
}

/** Counts of the decisions that an enforcing hive would have made. */
export interface Observed {
  /** Number of decided requests. */
  readonly decisions: number;
  /** Requests that would have waited for capacity. */
  readonly wouldHaveWaited: number;
  /** Requests that are too large for any window. */
  readonly wouldHaveBeenDenied: number;
  /** Requests that the provider refused, and the number of them that would have waited instead. */
  readonly refused: number;
  readonly wouldHaveBeenAvoided: number;
}

/** The present state of a hive. Contains no secrets. */
export interface HiveStatus extends SwarmStatus {
  /** Namespace of the hive. */
  readonly namespace: string;
  /** Explanation of each endpoint. */
  readonly endpoints: readonly HiveExplanation[];
  /** Number of tenant keys with limits that were used in the last windows. */
  readonly activeKeys: number;
  /** Number of open leases. */
  readonly leases: number;
  /** Number of requests that wait in this process. */
  readonly waiting: number;
  /** State of the global view; undefined without a store. */
  readonly sync: GlobalViewStatus | undefined;
  /** Totals of all observed decisions; undefined unless `mode` is "observe". */
  readonly observed: Observed | undefined;
}
