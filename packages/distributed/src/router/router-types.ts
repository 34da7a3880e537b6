import type { Clock, GateRoute, RateManager } from "@hivepace/core";
import type { GlobalView } from "../global-view/view-types.ts";

/**
 * Strategy of a router among the endpoints with capacity.
 * - "least-used": the endpoint with the lowest utilization, over all instances
 * - "round-robin": each endpoint in turn
 * - "weighted": in turn, in proportion to `weights`
 * - "fastest": the shortest recent latency, times the calls under way (peak EWMA)
 */
export type RoutingStrategy = "least-used" | "round-robin" | "weighted" | "fastest";

/** The state of endpoints besides their capacity. */
export interface EndpointHealth {
  /**
   * Returns the obstacle to calls and its duration; undefined when the endpoint can be called. `hasOther`: the call has
   * another candidate.
   */
  obstacle(
    endpoint: string,
    model: string | undefined,
    hasOther: boolean,
  ): { readonly why: string; readonly waitMs: number } | undefined;
  /**
   * Rank of an endpoint, compared before utilization, lowest first: -1 where a call should probe the endpoint, 1 where
   * the latest calls failed.
   */
  rank(endpoint: string, model: string | undefined): number;
  /**
   * Fraction of the limits whose usage failed or cancelled calls gave back. Without it, a failing endpoint would look
   * empty and attract all calls.
   */
  wasted(endpoint: string, model: string | undefined): number;
  /** Expected latency of one more call, for "fastest"; 0 when unknown. */
  latencyMs(endpoint: string, model: string | undefined): number;
}

/** Options of `createRouter`. */
export interface RouterOptions {
  /** The manager whose counts and limits decide on capacity. */
  manager: RateManager;
  /**
   * Usage of the other instances.
   *
   * @defaultValue none: only the counts of this process are known
   */
  view?: Pick<GlobalView, "others"> | undefined;
  /**
   * Availability and latency of endpoints.
   *
   * @defaultValue none: only refusals are known
   */
  health?: EndpointHealth | undefined;
  /**
   * Strategy of requests that do not set their own.
   *
   * @defaultValue "least-used"
   */
  strategy?: RoutingStrategy | undefined;
  /**
   * Relative frequency of each endpoint, for "weighted".
   *
   * @defaultValue 1 for each endpoint that is not named
   */
  weights?: Readonly<Record<string, number>> | undefined;
  /**
   * Time for which routing avoids an endpoint that answered 429 without a wait, in milliseconds.
   *
   * @defaultValue 1,000
   */
  refusedForMs?: number | undefined;
  /**
   * Source of time, for tests.
   *
   * @defaultValue the system clock
   */
  clock?: Clock | undefined;
}

/** A request to be routed, and its candidate endpoints. */
export interface RouteRequest {
  /**
   * The candidate endpoints. Nested lists are tiers: the first tier with an available endpoint with capacity is used.
   */
  readonly candidates: GateRoute;
  /** Estimated usage in tokens. */
  readonly tokens: number;
  /** The input part of the estimate. */
  readonly inputTokens?: number | undefined;
  /** The output part of the estimate. */
  readonly outputTokens?: number | undefined;
  /** The model of the call. */
  readonly model?: string | undefined;
  /** The API key or tenant of the call. */
  readonly key?: string | undefined;
  /** Session affinity: requests of one session go to one endpoint while it has capacity, whatever the strategy. */
  readonly session?: string | undefined;
  /**
   * Strategy of this request.
   *
   * @defaultValue the strategy of the router
   */
  readonly strategy?: RoutingStrategy | undefined;
}

/** An endpoint that was not chosen because it lacks capacity or is unavailable. */
export interface PassedOver {
  readonly endpoint: string;
  /**
   * Reason for passing over the endpoint. "local": the counts of this process; "global": those of all instances;
   * "refused": an answer 429; "unavailable": its availability.
   */
  readonly by: "local" | "global" | "refused" | "unavailable";
  /** Explanation as readable text. */
  readonly why: string;
  /** Time after which the endpoint may have capacity, in milliseconds; undefined when time alone does not help. */
  readonly retryAfterMs: number | undefined;
  /** True when the request exceeds a limit of the endpoint, so that it can never be sent there. */
  readonly isNever: boolean;
}

/** Result of routing: the chosen endpoint, the reason, and the endpoints passed over. */
export interface RoutingDecision {
  /** The chosen endpoint; when none has capacity, the one that becomes available first. */
  readonly endpoint: string;
  /** True when the endpoint has capacity now. */
  readonly allowed: boolean;
  /** Explanation as readable text. */
  readonly reason: string;
  /** Utilization of the chosen endpoint, 0 to 1, over all instances as far as known. */
  readonly utilization: number;
  /** The candidates that were not chosen because they lack capacity or are unavailable. */
  readonly passedOver: readonly PassedOver[];
  /**
   * Time until the endpoint has capacity, in milliseconds, when none has capacity now. Undefined when time alone does
   * not help.
   */
  readonly retryAfterMs: number | undefined;
}

/** Chooses an endpoint for each request. A router counts nothing: the caller takes capacity at the chosen endpoint. */
export interface Router {
  /**
   * Chooses an endpoint. Skips candidates that the manager does not have, with one warning for each
   * (HIVEPACE_UNKNOWN_ENDPOINT).
   *
   * @throws RESOURCE_UNKNOWN, with the known endpoints, when the manager has none of the candidates
   */
  route(request: RouteRequest): RoutingDecision;
  /** Records that the endpoint answered 429. Routing avoids it for the wait that it requested. */
  refused(endpoint: string, details?: { retryAfterMs?: number | undefined; model?: string | undefined }): void;
}
