export { startGlobalView } from "./global-view/global-view.ts";
export type { GlobalViewOptions } from "./global-view/options.ts";
export type {
  GlobalUsage,
  GlobalView,
  GlobalViewStatus,
  OthersUsage,
  SyncEvent,
} from "./global-view/view-types.ts";
export { createRouter } from "./router/router.ts";
export type {
  PassedOver,
  RouteRequest,
  Router,
  RouterOptions,
  RoutingDecision,
  RoutingStrategy,
} from "./router/router-types.ts";
