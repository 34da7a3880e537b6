export type { Isolation } from "./engine/index.ts";
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
  EndpointAvailability,
  Hive,
  HiveChanges,
  HiveDecision,
  HiveDenial,
  HiveDimension,
  HiveEndpoint,
  HiveExplanation,
  HiveGrant,
  HiveKeyLimits,
  HiveLimit,
  HiveOptions,
  HiveReducedDetails,
  HiveRequest,
  HiveStatus,
  Observed,
  ParkOptions,
  ReadyOptions,
  WindowLimit,
} from "./hive/hive-types.ts";
export type { Aggregation, AggregationAt } from "./limiter/aggregation.ts";
export {
  type DistributedConfig,
  defaultDistributedConfig,
  type Recovery,
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
  SharedCapacityOptions,
  SlotStatus,
  SwarmMode,
  SwarmStatus,
  WindowStatus,
} from "./limiter/distributed-limiter.ts";
export type { AdaptiveSlots, SlotLimit } from "./limiter/slot-config.ts";
export type { ShorterLimit } from "./limiter/window-limits.ts";
export { type AnnounceOptions, announceCapacity } from "./observer/announce-capacity.ts";
export { observeSwarm } from "./observer/observe-swarm.ts";
export type {
  ObservedAgent,
  ObservedAvailability,
  ObservedDimension,
  ObservedLimit,
  ObservedResource,
  ObservedUse,
  ObserverOptions,
  SwarmEvent,
  SwarmObserver,
  SwarmSnapshot,
} from "./observer/observer-types.ts";
export { type ParkDecision, parkEndpoint, unparkEndpoint } from "./observer/park-endpoint.ts";
export { createRouter } from "./router/router.ts";
export type {
  EndpointHealth,
  PassedOver,
  RouteRequest,
  Router,
  RouterOptions,
  RoutingDecision,
  RoutingStrategy,
} from "./router/router-types.ts";
export { CAPACITY_SUBJECT, PRESENCE_SUBJECT, SUBJECT_PREFIX } from "./wire/subjects.ts";
