import type { Clock, RateManager } from "@hivepace/core";
import type { GlobalView } from "../global-view/view-types.ts";

/** "least-used": the most room, over all instances. "round-robin": in turns. "weighted": in turns, by `weights`. */
export type RoutingStrategy = "least-used" | "round-robin" | "weighted";

/** Options of `createRouter`. */
export interface RouterOptions {
  manager: RateManager;
  /** What other instances use. Without it only this one's counts are known. */
  view?: Pick<GlobalView, "others"> | undefined;
  /** Default: "least-used". */
  strategy?: RoutingStrategy | undefined;
  /** How often each endpoint is taken, in relation to the others; 1 for one that is not named. */
  weights?: Readonly<Record<string, number>> | undefined;
  /** How long an endpoint that answered 429 is left alone when it did not say how long. Default: 1 second. */
  refusedForMs?: number | undefined;
  clock?: Clock | undefined;
}

/** What is to be sent, and where it could go. */
export interface RouteRequest {
  /** Endpoints that would do. */
  readonly candidates: readonly string[];
  readonly tokens: number;
  readonly inputTokens?: number | undefined;
  readonly outputTokens?: number | undefined;
  readonly model?: string | undefined;
  readonly key?: string | undefined;
  /** Requests of one session go to one endpoint while it has room, whatever the strategy. */
  readonly session?: string | undefined;
  /** Instead of the router's own. */
  readonly strategy?: RoutingStrategy | undefined;
}

/** An endpoint that was not taken because it has no room. */
export interface PassedOver {
  readonly endpoint: string;
  /** "local": our own counts say so; "global": those of all instances; "refused": it answered 429. */
  readonly by: "local" | "global" | "refused";
  /** For people. */
  readonly why: string;
  /** After this long it may have room; undefined when time alone does not help. */
  readonly retryAfterMs: number | undefined;
  /** It will never have room for this request, which is larger than a limit. */
  readonly isNever: boolean;
}

/** Where to send it, why there, and what was passed over. */
export interface RoutingDecision {
  /** Where to send it; when none has room, the one that frees first. */
  readonly endpoint: string;
  /** Whether it has room now. */
  readonly allowed: boolean;
  /** For people. */
  readonly reason: string;
  /** 0..1, of the chosen endpoint, over all instances as far as known. */
  readonly utilization: number;
  readonly passedOver: readonly PassedOver[];
  /** When none has room: after this long the endpoint frees. Undefined when time alone does not help. */
  readonly retryAfterMs: number | undefined;
}

/** Chooses an endpoint. It counts nothing: ask the manager, or acquire, for the one that it names. */
export interface Router {
  /**
   * Passes over candidates that the manager does not have, with one warning for each (HIVEPACE_UNKNOWN_ENDPOINT). Throws
   * RESOURCE_UNKNOWN, which names the endpoints that there are, when it has none of them.
   */
  route(request: RouteRequest): RoutingDecision;
  /** The endpoint answered 429: it is left alone for as long as it said. */
  refused(endpoint: string, details?: { retryAfterMs?: number | undefined; model?: string | undefined }): void;
}
