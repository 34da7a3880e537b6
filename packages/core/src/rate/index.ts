export { PackedCounters } from "./packed-counters.ts";
export type { EndpointFileConfig, KeyFileConfig, RateConfig } from "./rate-config.ts";
export { SharingUnavailableError, TableFullError } from "./rate-errors.ts";
export { RateManager } from "./rate-manager.ts";
export type {
  EndpointConfig,
  EndpointCount,
  EndpointLimits,
  KeyCount,
  KeyLimits,
  LimitedBy,
  RateDecision,
  RateHandle,
  RateManagerOptions,
  RateRequest,
  RateSnapshot,
  RateTarget,
  SharedHandle,
} from "./rate-types.ts";
