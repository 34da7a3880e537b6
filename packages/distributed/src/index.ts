export type { Isolation } from "./engine/silence.ts";
export { startGlobalView } from "./global-view/global-view.ts";
export type { GlobalViewOptions } from "./global-view/options.ts";
export type {
  GlobalUsage,
  GlobalView,
  GlobalViewStatus,
  OthersUsage,
  SyncEvent,
} from "./global-view/view-types.ts";
export { createHive } from "./hive/create-hive.ts";
export type {
  Hive,
  HiveChanges,
  HiveDecision,
  HiveDimension,
  HiveExplanation,
  HiveLimit,
  HiveOptions,
  HiveReducedDetails,
  HiveRequest,
  HiveStatus,
  Observed,
} from "./hive/hive-types.ts";
export type { Aggregation, AggregationAt } from "./limiter/aggregation.ts";
export {
  type DistributedConfig,
  defaultDistributedConfig,
  type SwarmOptions,
  validateDistributedConfig,
} from "./limiter/config.ts";
export { createDistributedLimiter } from "./limiter/create-distributed-limiter.ts";
export type {
  DistributedCapacity,
  DistributedLimiter,
  DistributedStatus,
  LevelCause,
  PeerStatus,
  ResourceStatus,
  SwarmMode,
  SwarmStatus,
} from "./limiter/distributed-limiter.ts";
export { type AnnounceOptions, announceCapacity } from "./observer/announce-capacity.ts";
export { observeSwarm } from "./observer/observe-swarm.ts";
export type {
  ObservedAgent,
  ObservedLimit,
  ObservedResource,
  ObservedUse,
  ObserverOptions,
  SwarmEvent,
  SwarmObserver,
  SwarmSnapshot,
} from "./observer/observer-types.ts";
export { createRouter } from "./router/router.ts";
export type {
  PassedOver,
  RouteRequest,
  Router,
  RouterOptions,
  RoutingDecision,
  RoutingStrategy,
} from "./router/router-types.ts";
export { CAPACITY_SUBJECT, PRESENCE_SUBJECT, SUBJECT_PREFIX } from "./wire/subjects.ts";
