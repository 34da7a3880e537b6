import type { MessageBus } from "@hivepace/bus";
import type {
  CapacityUpdate,
  EndpointConfig,
  Gate,
  GateRequest,
  KeyLimits,
  Lease,
  LimitedBy,
  LimitObservation,
  RateDecision,
  RateManagerOptions,
  ReducedDetails,
  SyncStore,
} from "@hivepace/core";
import type { GlobalUsage, GlobalViewStatus } from "../global-view/view-types.ts";
import type { SwarmOptions } from "../limiter/config.ts";
import type { LevelCause, SwarmStatus } from "../limiter/distributed-limiter.ts";
import type { RouteRequest, RoutingDecision, RoutingStrategy } from "../router/router-types.ts";

/** Options of `createHive`: what may be called, with whom it is shared, and how. */
export interface HiveOptions extends SwarmOptions {
  /** What may be called, and how much of it in a window; limits that are absent are learned from answers, or are none. */
  endpoints: readonly EndpointConfig[];
  /** Limits of API keys or tenants, besides those of the endpoints. All agents hold them together, as they do those. */
  keys?: Readonly<Record<string, KeyLimits>> | undefined;
  /** Limits of keys that are not among `keys`, shared in the same way. Called when a key comes into use. */
  limitsForKey?: RateManagerOptions["limitsForKey"];
  /** Over which all agents agree; without, this one is alone. A promise of one is closed with the hive. */
  bus?: MessageBus | PromiseLike<MessageBus> | undefined;
  /** The store of the global view, which also hands out limits, see `aggregation`. A promise of one is closed with the hive. */
  sync?: SyncStore | PromiseLike<SyncStore> | undefined;
  /** Agents of other namespaces are not heard. Default: what `resolveNamespace()` of `@hivepace/namespace` says. */
  namespace?: string | undefined;
  /** No two agents have the same. Default: host, process and a random part. */
  agentId?: string | undefined;
  /** "observe" decides and reports, and never makes anyone wait. Default: "enforce". */
  mode?: "enforce" | "observe" | undefined;
  /** What "a minute" is. Default: 60,000. */
  windowMs?: number | undefined;
  /** After so long without a word a lease ends by itself, as if done. Default: 15 minutes. */
  leaseMs?: number | undefined;
  /** How to choose among the endpoints of a route. Default: "least-used". */
  strategy?: RoutingStrategy | undefined;
  weights?: Readonly<Record<string, number>> | undefined;
  /** An endpoint with a higher `tpmLimit` than this is counted and not limited. Default: none is. */
  mockEndpointTpmThreshold?: number | undefined;
}

/**
 * One call that is to be sent. Exactly one of `endpoint` and `route` is required. Where an endpoint or the key is
 * configured with a limit of tokens, `tokens` (or its parts, `inputTokens` and `outputTokens`) is required too: without
 * an estimate the call would evade the limit. All else has a default.
 */
export type HiveRequest = GateRequest;

/** A decision, and when it was granted the lease. */
export type HiveDecision = RateDecision & { readonly endpoint: string; readonly lease?: Lease | undefined };

/** What is known of a refusal, and of which model. */
export interface HiveReducedDetails extends ReducedDetails {
  readonly model?: string | undefined;
}

/** What may change while it runs. What is left out stays as it is; endpoints and keys that are not in it any more go. */
export interface HiveChanges {
  readonly endpoints?: readonly EndpointConfig[] | undefined;
  readonly keys?: Readonly<Record<string, KeyLimits>> | undefined;
}

/** Endpoints, keys, leases and routing, within limits that all agents hold together. */
export interface Hive extends Gate, AsyncDisposable {
  readonly agentId: string;
  readonly mode: "enforce" | "observe";
  acquire(request: HiveRequest): Promise<Lease>;
  /** Never waits, and never overtakes those who do. */
  tryAcquire(request: HiveRequest): HiveDecision;
  /** Where a request would go now. Counts nothing. */
  route(request: RouteRequest): RoutingDecision;
  /** The provider allows less than we thought: it answered 429. Leases say so themselves, by `refused`. */
  announceReduced(endpoint: string, reason: string, details?: HiveReducedDetails): void;
  observe(observation: LimitObservation): void;
  /**
   * Which limit, how full, who cut it and why, when it frees: for people who wonder why they wait. With `model`, also the
   * limits that answers have shown for this model.
   */
  explain(endpoint: string, model?: string): HiveExplanation;
  status(): HiveStatus;
  onCapacityChange(listener: (update: CapacityUpdate) => void): () => void;
  /** Throws INVALID_CONFIG for a mistake anywhere, and then changes nothing. What was counted stays counted. */
  reconfigure(changes: HiveChanges): void;
  /**
   * Sends away all who wait, gives those under way `drainMs` to end, and says goodbye, so that the others have this
   * agent's part at once. May be called again.
   */
  close(options?: { readonly drainMs?: number | undefined }): Promise<void>;
}

/** What an endpoint limits. */
export type HiveDimension = "requests" | "tokens" | "inputTokens" | "outputTokens";

/** One limit of an endpoint. */
export interface HiveLimit {
  readonly dimension: HiveDimension;
  readonly windowMs: number;
  /** As configured or learned; the smallest that any agent has. */
  readonly limit: number;
  readonly isLearned: boolean;
  /** What all agents may use now: the limit × its level. */
  readonly total: number;
  /** What all have used in the last window, as far as this agent knows, and it itself. */
  readonly used: number;
  readonly usedHere: number;
  /** This agent's fair part of the total; nothing while it listens, less of it while it hears nobody. */
  readonly share: number;
}

/** Why calls to an endpoint wait, or do not: for people, dashboards and tests. */
export interface HiveExplanation {
  readonly endpoint: string;
  readonly model: string | undefined;
  /** For people. */
  readonly text: string;
  readonly limits: readonly HiveLimit[];
  /** What is left of the limits, 0 to 1; who cut it, why and when. */
  readonly level: number;
  readonly cause: LevelCause | undefined;
  readonly pausedForMs: number;
  readonly waiting: number;
  readonly inFlight: number;
  /**
   * When a request of one token would be sent that came now; 0 when at once, Infinity when time alone does not help: the
   * limit is 0, or a call in flight has to end first.
   */
  readonly freesInMs: number;
  /** The limit that stands against such a request, as a denied `tryAcquire` names it; undefined when there is room. */
  readonly limitedBy: LimitedBy | undefined;
  /** What all instances use, through the store; undefined without one. */
  readonly global: GlobalUsage | undefined;
  /** What would have become of its requests, whatever the model; undefined unless `mode` is "observe". */
  readonly observed: Observed | undefined;
}

/** What an observing hive would have done. */
export interface Observed {
  readonly decisions: number;
  readonly wouldHaveWaited: number;
  /** Too large for any window. */
  readonly wouldHaveBeenDenied: number;
  /** Requests that the provider refused, and those of them that would have waited instead. */
  readonly refused: number;
  readonly wouldHaveBeenAvoided: number;
}

/** A hive as it is now. Nothing in it is a secret. */
export interface HiveStatus extends SwarmStatus {
  readonly namespace: string;
  readonly endpoints: readonly HiveExplanation[];
  /** Keys with limits that are in use: those of the last windows. */
  readonly activeKeys: number;
  readonly leases: number;
  readonly waiting: number;
  /** Undefined without a store. */
  readonly sync: GlobalViewStatus | undefined;
  /** Undefined unless `mode` is "observe". */
  readonly observed: Observed | undefined;
}
